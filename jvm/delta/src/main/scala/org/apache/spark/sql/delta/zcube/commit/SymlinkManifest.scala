package org.apache.spark.sql.delta.zcube.commit

import scala.util.Failure

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.hooks.GenerateSymlinkManifest
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaErrors, Snapshot}

import io.zcube.clustering.table.CommitResult
import io.zcube.concurrent.{Caught, DeferredInterrupt}

/** The files that tell readers without a Delta reader, such as Presto, which files a table has
  * (`delta.compatibility.symlinkFormatManifest.enabled`).
  *
  * Delta renews them after each commit, but only those of the partitions that it changed. If that
  * failed, or never ran because the commit's answer was lost, they would name removed files until
  * somebody writes to the same partitions, even after a VACUUM.
  *
  * @param read the version that was rewritten; a commit that changes the property conflicts
  */
final class SymlinkManifest(
    session: SparkSession,
    read: Snapshot,
    catalogTable: Option[CatalogTable]) {

  private val isOn = DeltaConfigs.SYMLINK_FORMAT_MANIFEST_ENABLED.fromMetaData(read.metadata)

  /** Renews all manifests after a commit that succeeded in spite of an error. If that fails, the
    * run ends with Delta's own error for it; the commit stays.
    */
  def after(landed: CommitResult.Landed): CommitResult.Landed =
    if (isOn) renewed(landed) else landed

  private def renewed(landed: CommitResult.Landed): CommitResult.Landed =
    DeferredInterrupt.within(Caught(renew())) match {
      case Failure(e) =>
        val hook = GenerateSymlinkManifest
        val error =
          DeltaErrors.postCommitHookFailedException(hook, landed.version, hook.name, e)
        landed.failure.foreach(error.addSuppressed)
        landed.copy(failure = landed.failure.orElse(Some(error)))
      case _ => landed
    }

  private def renew(): Unit =
    GenerateSymlinkManifest.generateFullManifest(session, read.deltaLog, catalogTable)
}
