package org.apache.spark.sql.delta.zcube.commit

import java.io.InterruptedIOException
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.actions.{Action, AddFile, CommitInfo, RemoveFile}
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction

import io.zcube.clustering.table.CommitResult
import io.zcube.concurrent.DeferredInterrupt
import io.zcube.sql.errors.ZCubeErrors

/** Finds out from the log whether a transaction whose commit failed is committed all the same.
  *
  * The log is listed anew and read from the version after the one that was read, so no cached state has
  * a say. Versions that a commit coordinator has not backfilled are among them. The new files have
  * names that nobody used before, so what these versions don't add is not in the table.
  *
  * @param table as the user knows it
  */
final class CommitInquiry(table: String, txn: DeltaTransaction, changes: RewriteChanges)
    extends Logging {
  import CommitInquiry._

  private val added = changes.added.map(_.path).toSet
  private val removed = changes.removed.map(_.path).toSet

  /** What became of the commit that threw `failure`. */
  def after(failure: Throwable): CommitResult = {
    val interrupted = Thread.currentThread().isInterrupted
    val result = DeferredInterrupt.within {
      try search(failure, interrupted || endsRun(failure))
      catch {
        case e: Throwable =>
          if (e ne failure) failure.addSuppressed(e)
          unknown(failure, "the log can't be read")
      }
    }
    result match {
      case CommitResult.Landed(version, None) =>
        // An appender that fails changes nothing about the commit.
        try logWarning(s"$table: an error came after version $version was committed", failure)
        catch { case NonFatal(_) => }
      case _ =>
    }
    result
  }

  private def search(failure: Throwable, ends: Boolean): CommitResult = {
    val tried = txn.triedVersions
    if (tried.isEmpty) CommitResult.Refused(failure)
    else {
      val first = txn.readVersion + 1
      var seen = txn.readVersion
      // Without a gap: of a version that a log's cleaning took away nothing is known. One that a
      // coordinator backfills just now may come twice.
      val versions = txn.deltaLog
        .getChanges(first, txn.catalogTable)
        .takeWhile { case (version, _) => version <= seen + 1 }
      var found: Option[CommitResult] = None
      while (found.isEmpty && versions.hasNext) {
        val (version, actions) = versions.next()
        seen = version
        found = resultOf(version, actions, failure, ends)
      }
      found.getOrElse {
        if (tried.forall(_ <= seen)) CommitResult.Refused(failure)
        else unknown(failure, s"version ${tried.max} isn't in the log, but may still get there")
      }
    }
  }

  /** What a version says of the commit, if anything. */
  private def resultOf(
      version: Long,
      actions: Seq[Action],
      failure: Throwable,
      ends: Boolean): Option[CommitResult] = {
    val ours = actions.exists {
      case info: CommitInfo => info.txnId.contains(txn.txnId)
      case _ => false
    }
    val adds = actions.collect { case file: AddFile => file.path }.toSet
    val removes = actions.collect { case file: RemoveFile => file.path }.toSet
    if (ours && added.subsetOf(adds) && removed.subsetOf(removes)) {
      Some(CommitResult.Landed(version, Option.when(ends)(failure)))
    } else if (ours) {
      Some(unknown(failure, s"version $version has only a part of it"))
    } else if (added.isEmpty && removed.nonEmpty && removed.subsetOf(removes)) {
      // A rewrite of deleted rows only has no file of its own to be known by.
      Some(unknown(
        failure,
        s"version $version removes the same files, and doesn't say whose it is"))
    } else if (added.exists(adds.contains)) {
      Some(unknown(failure, s"version $version is somebody else's, but has files of it"))
    } else None
  }

  private def unknown(failure: Throwable, why: String): CommitResult.Unknown =
    CommitResult.Unknown(
      ZCubeErrors.commitUnknown(table, txn.triedVersions, txn.readVersion, why, failure))
}

object CommitInquiry {

  /** Whether a run must not go on after this, though the commit went through. */
  private def endsRun(failure: Throwable): Boolean =
    causesOf(failure).exists {
      case _: SocketTimeoutException => false
      case _: InterruptedIOException | _: ClosedByInterruptException => true
      case NonFatal(_) => false
      case _ => true
    }

  private def causesOf(failure: Throwable): Seq[Throwable] =
    // Causes may go in a circle.
    Iterator.iterate(failure)(_.getCause).takeWhile(_ != null).take(100).toSeq
}
