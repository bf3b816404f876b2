package org.apache.spark.sql.delta.zcube.auto

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.hooks.{AutoCompact, GenerateSymlinkManifest, PostCommitHook}
import org.apache.spark.sql.delta.{CommittedTransaction, OptimisticTransaction}
import org.apache.spark.sql.internal.SQLConf

import io.zcube.concurrent.Caught
import io.zcube.sql.conf.ZCubeConf

/** Replaces Delta's hook for symlink manifests after a write that may be compacted.
  *
  * Delta registers its own last. It writes the manifest of the version of the write, so that after
  * auto compaction, which comes before, the manifest names files that are no longer in the table.
  * This one writes that of the newest version. It claims to be equal, as [[LayoutHook]] does.
  *
  * @param layout registered before it
  */
final class ManifestHook(txn: OptimisticTransaction, layout: LayoutHook) extends PostCommitHook {

  override val name: String = GenerateSymlinkManifest.name

  @volatile private var wanted = false

  override def run(spark: SparkSession, committed: CommittedTransaction): Unit =
    if (wanted) {
      val newest = committed.deltaLog.update(catalogTableOpt = committed.catalogTable)
      GenerateSymlinkManifest.run(spark, committed.copy(postCommitSnapshot = newest))
    }

  override def handleError(spark: SparkSession, error: Throwable, version: Long): Unit =
    GenerateSymlinkManifest.handleError(spark, error, version)

  /** Delta compares when it knows what it commits. */
  override def equals(other: Any): Boolean = other match {
    case GenerateSymlinkManifest =>
      wanted = mayBeCompacted
      wanted
    case _ => other.isInstanceOf[ManifestHook]
  }

  override def hashCode: Int = GenerateSymlinkManifest.hashCode

  private def mayBeCompacted: Boolean = {
    val conf = SQLConf.get
    // Delta's reading of the table property fails for values that it doesn't know.
    def isOn = Caught(AutoCompact.getAutoCompactType(conf, txn.metadata).isDefined).getOrElse(false)
    layout.isWanted && conf.getConf(ZCubeConf.Enabled) && isOn
  }
}
