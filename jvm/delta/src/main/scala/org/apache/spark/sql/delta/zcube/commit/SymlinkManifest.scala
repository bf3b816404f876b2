package org.apache.spark.sql.delta.zcube.commit

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.Failure
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.hooks.GenerateSymlinkManifest
import org.apache.spark.sql.delta.{DeltaConfigs, Snapshot}

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
  import SymlinkManifest._

  private val isOn = DeltaConfigs.SYMLINK_FORMAT_MANIFEST_ENABLED.fromMetaData(read.metadata)

  /** Renews all manifests after a commit that succeeded in spite of an error. If that fails, the
    * run ends with Delta's own error for it; the commit stays.
    */
  def after(landed: CommitResult.Landed): CommitResult.Landed =
    if (isOn) renewed(landed) else landed

  private def renewed(landed: CommitResult.Landed): CommitResult.Landed =
    DeferredInterrupt.within(Caught(renew(Attempts))) match {
      case Failure(NonFatal(e)) =>
        val hook = GenerateSymlinkManifest
        failed(landed, Caught(hook.handleError(session, e, landed.version)).failed.getOrElse(e))
      case Failure(e) => failed(landed, e)
      case _ => landed
    }

  private def failed(landed: CommitResult.Landed, error: Throwable): CommitResult.Landed = {
    landed.failure.filter(_ ne error).foreach(_.addSuppressed(error))
    landed.copy(failure = landed.failure.orElse(Some(error)))
  }

  /** Another writer may commit, and write its manifests, while ours are written; then ours are of an
    * older version, and must be written again.
    */
  @tailrec private def renew(attempts: Int): Unit = {
    val before = version()
    GenerateSymlinkManifest.generateFullManifest(session, read.deltaLog, catalogTable)
    if (version() != before) {
      if (attempts == 1)
        throw new ConcurrentModificationException(
          s"Other writers committed during each of $Attempts attempts to write the manifests. " +
            "Run GENERATE symlink_format_manifest FOR TABLE.")
      renew(attempts - 1)
    }
  }

  private def version(): Long = read.deltaLog.update(catalogTableOpt = catalogTable).version
}

object SymlinkManifest {
  private val Attempts = 10
}
