package org.apache.spark.sql.delta.zcube.auto

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.hooks.{AutoCompact, GenerateSymlinkManifest}
import org.apache.spark.sql.delta.zcube.commit.StandInHook
import org.apache.spark.sql.delta.{CommittedTransaction, OptimisticTransaction, Snapshot}
import org.apache.spark.sql.internal.SQLConf

import io.zcube.concurrent.Caught
import io.zcube.sql.conf.ZCubeConf

/** Takes the place of Delta's hook for symlink manifests after a write that may be compacted.
  *
  * Delta's own hook writes the manifest of the version that the write committed. Auto compaction
  * runs before it, so that manifest would name removed files. This hook writes the newest
  * version's.
  *
  * @param layout registered before it
  */
final class ManifestHook(txn: OptimisticTransaction, layout: LayoutHook)
    extends StandInHook(GenerateSymlinkManifest) {

  override protected def runInPlace(spark: SparkSession, committed: CommittedTransaction): Unit =
    GenerateSymlinkManifest.run(spark, committed.copy(postCommitSnapshot = newest(committed)))

  /** The newest version that is known and like the committed one in all that manifests depend on.
    * Delta has cached that of the compaction. The log isn't listed: the write has succeeded, so it
    * must not fail because a store can't list, and other writers write their own manifests.
    */
  private def newest(committed: CommittedTransaction): Snapshot = {
    val written = committed.postCommitSnapshot
    val known = Try(committed.deltaLog.unsafeVolatileSnapshot).filter(isAlike(_, written))
    (written +: known.toOption.toSeq).maxBy(_.version)
  }

  private def isAlike(snapshot: Snapshot, written: Snapshot): Boolean = {
    val (one, other) = (snapshot.metadata, written.metadata)
    one.id == other.id && one.partitionColumns == other.partitionColumns &&
    one.columnMappingMode == other.columnMappingMode
  }

  override protected def takesPlace: Boolean = {
    val conf = SQLConf.get
    // Delta's reading of the table property fails for values that it doesn't know.
    def isOn = Caught(AutoCompact.getAutoCompactType(conf, txn.metadata).isDefined).getOrElse(false)
    layout.isWanted && conf.getConf(ZCubeConf.Enabled) && isOn
  }
}
