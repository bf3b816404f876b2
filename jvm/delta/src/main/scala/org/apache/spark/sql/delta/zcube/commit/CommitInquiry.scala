package org.apache.spark.sql.delta.zcube.commit

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.actions.{Action, AddFile, CommitInfo, RemoveFile}
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction

import io.zcube.clustering.table.CommitResult
import io.zcube.concurrent.{Causes, DeferredInterrupt}
import io.zcube.sql.errors.ZCubeErrors

/** Determines from the log whether a transaction whose commit failed is committed nevertheless.
  *
  * The log is listed again and read from the version after the one that was read, so no cached
  * state is involved. This includes versions that a commit coordinator has not backfilled. The new
  * files have unique names, so if these versions don't add them, they are not in the table.
  *
  * @param table the name that users know
  */
final class CommitInquiry(table: String, txn: DeltaTransaction, changes: RewriteChanges)
    extends Logging {

  private val added = changes.added.map(_.path).toSet
  private val removed = changes.removed.map(_.path).toSet

  /** The outcome of the commit that threw `failure`. */
  def after(failure: Throwable): CommitResult = {
    val interrupted = Thread.currentThread().isInterrupted
    val result = DeferredInterrupt.within {
      try search(failure, interrupted || Causes.endsRun(failure))
      catch {
        case e: Throwable =>
          if (e ne failure) failure.addSuppressed(e)
          unknown(failure, "the log can't be read")
      }
    }
    result match {
      case CommitResult.Committed(version, None) =>
        // A failing log appender doesn't affect the commit.
        try logWarning(s"$table: an error came after version $version was committed", failure)
        catch { case NonFatal(_) => }
      case _ =>
    }
    result
  }

  private def search(failure: Throwable, ends: Boolean): CommitResult = {
    val tried = txn.triedVersions
    if (tried.isEmpty) CommitResult.Rejected(failure)
    else {
      val first = txn.readVersion + 1
      var seen = txn.readVersion
      // There must be no gap: nothing is known about a version that log cleanup has removed. A
      // version that a coordinator is backfilling right now may appear twice.
      val versions = txn.deltaLog
        .getChanges(first, txn.catalogTable)
        .takeWhile { case (version, _) => version <= seen + 1 }
      var found: Option[CommitResult] = None
      // Delta writes no empty version; a store that isn't atomic may show one while it is written.
      var empty: Option[Long] = None
      while (found.isEmpty && versions.hasNext) {
        val (version, actions) = versions.next()
        seen = version
        if (actions.isEmpty) empty = Some(version)
        found = resultOf(version, actions, failure, ends)
      }
      found.getOrElse {
        if (empty.isDefined) unknown(failure, s"version ${empty.mkString} is empty")
        else if (tried.forall(_ <= seen)) CommitResult.Rejected(failure)
        else unknown(failure, s"version ${tried.max} isn't in the log, but may still appear there")
      }
    }
  }

  /** What a version says about the commit, if anything. */
  private def resultOf(
      version: Long,
      actions: Seq[Action],
      failure: Throwable,
      ends: Boolean): Option[CommitResult] = {
    val writer = actions.collectFirst { case info: CommitInfo => info.txnId }.flatten
    val ours = writer.contains(txn.txnId)
    val adds = actions.collect { case file: AddFile => file.path }.toSet
    val removes = actions.collect { case file: RemoveFile => file.path }.toSet
    if (ours && added.subsetOf(adds) && removed.subsetOf(removes)) {
      Some(CommitResult.Committed(version, Option.when(ends)(failure)))
    } else if (ours) {
      Some(unknown(failure, s"version $version contains only part of it"))
    } else if (added.isEmpty && removed.nonEmpty && removed.subsetOf(removes) && writer.isEmpty &&
      txn.triedVersions.contains(version)) {
      // A rewrite of only deleted rows adds no file that would identify it.
      Some(unknown(
        failure,
        s"version $version removes the same files, but doesn't identify its writer"))
    } else if (added.exists(adds.contains)) {
      Some(unknown(failure, s"version $version belongs to another writer, but contains its files"))
    } else None
  }

  private def unknown(failure: Throwable, why: String): CommitResult.Unknown =
    CommitResult.Unknown(
      ZCubeErrors.commitUnknown(table, txn.triedVersions, txn.readVersion, why, failure))
}
