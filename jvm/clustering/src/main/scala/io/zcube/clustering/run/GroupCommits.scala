package io.zcube.clustering.run

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import io.zcube.clustering.plan.{OptimizeTask, RewriteGroup}
import io.zcube.clustering.table.{CommitResult, CommitSummary, FileSelection, RewriteTransaction}
import io.zcube.concurrent.{Caught, Causes}
import io.zcube.planning.DataFile

/** Commits the rewritten groups of a run, one commit at a time, and removes the files of groups that
  * certainly aren't committed. A group that a concurrent change invalidated is dropped, and the others of
  * its commit are tried again.
  *
  * @param jobs of the run; a commit that fails ends them
  */
final private[run] class GroupCommits(
    task: OptimizeTask,
    monitor: RunMonitor,
    jobs: RunJobs) {
  import GroupCommits._

  @volatile private var failure: Option[Throwable] = None

  /** The error of a commit that has happened, or may have, which takes precedence over others. */
  def afterCommit: Option[Throwable] = failure

  /** The groups of a batch that may still be committed, and those that others' changes are known to
    * have invalidated: these aren't rewritten in vain.
    */
  def withoutLost(
      selection: FileSelection,
      batch: Seq[RewriteGroup]): (Seq[RewriteGroup], Seq[GroupOutcome]) = {
    val conflicts = batch.flatMap(group => selection.conflictOf(group.files).map(group.number -> _))
    val isLost = conflicts.iterator.map(_._1).toSet
    conflicts.headOption match {
      case None => (batch, Nil)
      case Some((_, first)) =>
        val (lost, valid) = batch.partition(group =>
          task.settings.commitsWholeBatches || isLost(group.number))
        (valid, synchronized(dropped(lost, first)))
    }
  }

  /** Commits these groups, or those of them that are still valid. Failures and groups that were dropped
    * are in the outcome.
    */
  def commit(
      txn: RewriteTransaction,
      rewritten: Seq[RewriteResult]): Try[Seq[GroupOutcome]] = {
    // One at a time, so that commits of the same run don't conflict. Removing files may take long.
    val (outcome, removeFiles) = synchronized {
      if (jobs.areOver) (Success(Nil), () => txn.abort())
      else {
        val (attempt, ms) = Timed.ms(commitValid(txn, rewritten, Nil, Nil))
        val outcome = Caught(recorded(attempt, ms)).flatten
        if (outcome.isFailure) jobs.end()
        (outcome, () => removeAfter(txn, attempt))
      }
    }
    // What remains is for VACUUM; the outcome matters more.
    Caught(removeFiles()).failed.foreach { e =>
      if (Causes.isInterruption(e)) Thread.currentThread().interrupt()
      outcome.failed.foreach(failure => if (failure ne e) failure.addSuppressed(e))
      monitor.warn(rewritten.map(_.group), "its uncommitted files can't be removed", e)
    }
    outcome
  }

  /** Only if it is certain that nothing of the batch is or will be committed. */
  def abort(txn: RewriteTransaction, batch: Seq[RewriteGroup], why: Throwable): Unit =
    Caught {
      txn.abort()
      monitor.warn(batch, "failed; nothing of it is committed", why)
    }.failed.foreach(why.addSuppressed)

  private def recorded(attempt: CommitAttempt, ms: Long): Try[Seq[GroupOutcome]] = {
    val groups = attempt.tried.map(_.group)
    attempt.result match {
      case CommitResult.Committed(version, failure) =>
        FailurePoint.reached(FailurePoint.AfterCommit)
        monitor.committed(attempt.tried, version, ms)
        failure match {
          case None =>
            val committed = attempt.tried.map(GroupOutcome.Committed(_, version, ms))
            Success(attempt.dropped ++ committed)
          case Some(e) =>
            this.failure = Some(e)
            Failure(e)
        }
      case CommitResult.Rejected(e: ConcurrentModificationException, _) =>
        Success(attempt.dropped ++ dropped(groups, e))
      case CommitResult.Rejected(e, _) =>
        Failure(e)
      case CommitResult.Unknown(e) =>
        this.failure = Some(e)
        monitor.warn(groups, "it isn't known whether it is committed", e)
        Failure(e)
    }
  }

  /** Removes what certainly is not and will not be committed. */
  private def removeAfter(txn: RewriteTransaction, attempt: CommitAttempt): Unit =
    attempt.result match {
      case CommitResult.Rejected(_: ConcurrentModificationException, _) => txn.abort()
      case CommitResult.Rejected(e, _) => abort(txn, attempt.tried.map(_.group), e)
      case _ => if (attempt.discarded.nonEmpty) txn.discard(attempt.discarded)
    }

  /** Commits without the groups that a concurrent change invalidated, as long as others are left. */
  @tailrec
  private def commitValid(
      txn: RewriteTransaction,
      rewritten: Seq[RewriteResult],
      before: Seq[GroupOutcome],
      discarded: Seq[DataFile]): CommitAttempt = {
    val result = Caught(summary(rewritten)).fold(
      CommitResult.Rejected(_),
      txn.commit(rewritten.map(_.rewritten), _))
    result match {
      case CommitResult.Rejected(conflict: ConcurrentModificationException, invalidated)
          if invalidated.nonEmpty && invalidated.size < rewritten.size &&
            !task.settings.commitsWholeBatches =>
        val (lost, valid) = rewritten.partition(result => invalidated(result.group.number))
        commitValid(
          txn,
          valid,
          before ++ dropped(lost.map(_.group), conflict),
          discarded ++ lost.flatMap(_.added))
      case _ => CommitAttempt(result, rewritten, before, discarded)
    }
  }

  private def dropped(groups: Seq[RewriteGroup], conflict: Exception): Seq[GroupOutcome] = {
    monitor.dropped(groups, conflict)
    groups.map(GroupOutcome.Dropped(_, conflict))
  }

  private def summary(rewritten: Seq[RewriteResult]): CommitSummary = CommitSummary(
    task.layoutTag,
    task.isFull,
    task.isAuto,
    CommitMetrics.ours(rewritten),
    CommitMetrics.parameters(rewritten))
}

object GroupCommits {

  /** @param tried   the groups of the last attempt, whose result is `result`
    * @param dropped the groups that were excluded from it
    * @param discarded the files that were written for these
    */
  private case class CommitAttempt(
      result: CommitResult,
      tried: Seq[RewriteResult],
      dropped: Seq[GroupOutcome],
      discarded: Seq[DataFile])
}
