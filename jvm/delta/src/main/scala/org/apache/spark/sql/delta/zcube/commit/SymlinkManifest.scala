package org.apache.spark.sql.delta.zcube.commit

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.control.NonFatal
import scala.util.{Failure, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{Action, AddFile, Metadata, RemoveFile}
import org.apache.spark.sql.delta.hooks.{GenerateSymlinkManifest, GenerateSymlinkManifestImpl}
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog, Snapshot}

import io.zcube.clustering.table.CommitResult
import io.zcube.concurrent.{Caught, Causes, DeferredInterrupt}

/** The files that tell readers without a Delta reader, such as Presto, which files a table has
  * (`delta.compatibility.symlinkFormatManifest.enabled`).
  *
  * Delta's hook renews them after each commit, but only those of the partitions that it changed. If
  * that failed, or never ran because the commit's answer was lost, they would name removed files
  * until somebody writes to the same partitions, even after a VACUUM. So the same hook runs again.
  * It touches no other partition, since another writer may be writing those manifests, unless there
  * were none before the commit: then Delta writes all, and what failed may have left some of them.
  *
  * Make it before the commit. It throws what Delta would throw in the commit if the property has a
  * value that Delta doesn't know.
  *
  * @param txn the transaction that commits
  */
final class SymlinkManifest(
    session: SparkSession,
    txn: DeltaTransaction,
    changes: RewriteChanges) {
  import SymlinkManifest._

  private val hook = GenerateSymlinkManifest
  private val log = txn.deltaLog
  private val metadata = txn.snapshot.metadata
  private val partitions = changes.replaced.iterator.map(_.partitionValues).toSet

  // A commit that changes the property conflicts, so the version that was read has the answer.
  private val isOn = DeltaConfigs.SYMLINK_FORMAT_MANIFEST_ENABLED.fromMetaData(metadata)

  /** Whether there are manifests of other partitions that are right. If the store doesn't answer,
    * all will be written.
    */
  private val hadManifests = isOn && {
    val folder = new Path(log.dataPath, hook.MANIFEST_LOCATION)
    Try(folder.getFileSystem(log.newDeltaHadoopConf()).exists(folder)).recover {
      case e if Causes.of(e).exists(Causes.isInterruption) =>
        Thread.currentThread().interrupt()
        false
    }.getOrElse(false)
  }

  private val awaited = new AwaitedManifestHook
  if (isOn) txn.registerPostCommitHook(awaited)

  /** Whether this error of the commit says that the manifests weren't written. */
  def threw(error: Throwable): Boolean = awaited.threw(error)

  /** Renews the manifests after a commit that succeeded in spite of an error. If that fails, the run
    * ends with Delta's own error for it; the commit stays.
    */
  def after(committed: CommitResult.Committed): CommitResult.Committed =
    if (isOn) renewed(committed) else committed

  private def renewed(committed: CommitResult.Committed): CommitResult.Committed =
    DeferredInterrupt.within(Caught(renew(committed.version, Attempts))) match {
      case Failure(NonFatal(e)) =>
        failed(
          committed,
          Caught(hook.handleError(session, e, committed.version)).failed.getOrElse(e))
      case Failure(e) => failed(committed, e)
      case _ => committed
    }

  private def failed(
      committed: CommitResult.Committed,
      error: Throwable): CommitResult.Committed = {
    committed.failure.filter(_ ne error).foreach(_.addSuppressed(error))
    committed.copy(failure = committed.failure.orElse(Some(error)))
  }

  /** Another writer may commit to the same partitions, and write their manifests, while ours are
    * written; then ours are of an older version, and must be written again.
    */
  @tailrec private def renew(committed: Long, attempts: Int): Unit = {
    val written = latest()
    // A store's listing may lag behind, and to Delta an empty one is a table without versions.
    val isBehind = written.version < committed
    if (!isBehind) {
      if (hadManifests) hook.run(session, CommittedRewrite.of(txn, committed, changes, written))
      else AllManifests.write(session, log, written)
    }
    if (isBehind || isOlder(written, latest())) {
      if (attempts == 1) {
        val why =
          if (isBehind) s"The log's listing lacks version $committed, which is committed."
          else s"Other writers changed the table during each of $Attempts attempts to write them."
        throw new ConcurrentModificationException(
          s"The symlink manifests are older than the table. $why Run GENERATE " +
            "symlink_format_manifest FOR TABLE.")
      }
      if (isBehind) Thread.sleep(PauseMs)
      renew(committed, attempts - 1)
    }
  }

  private def latest(): Snapshot = log.update(catalogTableOpt = txn.catalogTable)

  private def isOlder(written: Snapshot, now: Snapshot): Boolean =
    now.version > written.version &&
      log.getChanges(written.version + 1, txn.catalogTable)
        .exists { case (_, actions) => actions.exists(concerns) }

  private def concerns(action: Action): Boolean = action match {
    case file: AddFile => !hadManifests || partitions(file.partitionValues)
    case file: RemoveFile =>
      !hadManifests || Option(file.partitionValues).forall(partitions)
    case changed: Metadata => changed.partitionColumns != metadata.partitionColumns
    case _ => false
  }
}

object SymlinkManifest {
  private val Attempts = 10

  private val PauseMs = 500L

  /** Delta's pass over all manifests, but of a version that was chosen. */
  private object AllManifests extends GenerateSymlinkManifestImpl {
    def write(session: SparkSession, log: DeltaLog, snapshot: Snapshot): Unit = {
      assertTableIsDVFree(session, snapshot)
      generateFullManifestWithSnapshot(session, log, snapshot)
    }
  }
}
