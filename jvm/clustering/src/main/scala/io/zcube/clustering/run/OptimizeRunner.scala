package io.zcube.clustering.run

import java.util.ConcurrentModificationException
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkException
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{OptimizeTask, RewriteGroup, RewritePlan}
import io.zcube.clustering.table.{CommitResult, CommitSummary, FileSelection, RewriteTransaction}
import io.zcube.concurrent.Caught
import io.zcube.planning.BinPacking
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.sampling.SampleBudget

/** Runs an OPTIMIZE by columns: plans, then rewrites and commits cube by cube, several at a time. A
  * cube that a concurrent change made void is dropped; the others go on. After any other failure
  * nothing new begins, and what is committed stays.
  */
final class OptimizeRunner(session: SparkSession, task: OptimizeTask) {

  private val context = session.sparkContext
  private val monitor = new RunMonitor(session, task)
  private val tag = s"zcube-${monitor.runId}"
  private val stopped = new AtomicBoolean(false)
  private val startedAt = System.currentTimeMillis()
  private val commits = new Object
  private val samples = new SampleBudget(awakened =
    () => if (stopped.get) throw new CancellationException(s"cancelled with $tag"))

  /** The error of a commit with an unknown outcome. It is reported before any other failure. */
  @volatile private var unknown: Option[Throwable] = None

  /** @throws java.util.ConcurrentModificationException if there were cubes, and none could commit
    */
  def run(): RunResult =
    try Sessions.within(session)(planAndRun())
    catch {
      case e: Throwable =>
        unknown.filter(_ ne e).foreach { first =>
          if (e.isInstanceOf[InterruptedException]) Thread.currentThread().interrupt()
          throw first
        }
        throw e
    } finally monitor.close()

  private def planAndRun(): RunResult = {
    val planned = RewritePlan.of(task)
    monitor.begin(planned)
    val outcomes = task.settings.batchBytes match {
      case Some(size) =>
        BinPacking
          .pack(planned.groups, size)(_.bytes)
          .flatMap(batch => finish(Seq(rewriteAndCommit(planned.selection, batch))))
      case None =>
        finish(inParallel(planned.groups)(group =>
          rewriteAndCommit(planned.selection, Seq(group))).map(_.flatten))
    }
    val conflicts = outcomes.collect { case GroupOutcome.Dropped(_, conflict) => conflict }
    if (conflicts.nonEmpty && !outcomes.exists(_.isInstanceOf[GroupOutcome.Committed])) {
      throw conflicts.head
    }
    RunResult(planned, outcomes, startedAt)
  }

  /** Throws the failure that came first in time; those of jobs cancelled for its sake are no cause. */
  private def finish(outcomes: Seq[Try[Seq[GroupOutcome]]]): Seq[GroupOutcome] = {
    val failures = outcomes.collect { case Failure(e) => e }
    failures.find(!isCancellation(_)).orElse(failures.headOption).foreach {
      // Spark's own exception for a failed job: say what it means for the table.
      case e: SparkException => throw ZCubeErrors.rewriteFailed(task.tableName, e)
      case e => throw e
    }
    outcomes.flatMap(_.get)
  }

  /** One commit for all of the batch. */
  private def rewriteAndCommit(
      selection: FileSelection,
      batch: Seq[RewriteGroup]): Try[Seq[GroupOutcome]] =
    if (stopped.get) Success(Nil)
    else if (task.options.maxDuration.exists(System.currentTimeMillis() - startedAt >= _)) {
      Success(batch.map(GroupOutcome.NotStarted))
    } else {
      val outcome = Caught {
        val txn = selection.begin(session, batch.flatMap(_.files))
        rewriteAll(selection, txn, batch) match {
          case Failure(e) =>
            remove(txn, batch, e)
            Failure(e)
          case Success(rewritten) => commit(txn, batch, rewritten)
        }
      }.flatten
      if (outcome.isFailure) stop()
      outcome
    }

  /** Nothing new begins, and what runs is to end. */
  private def stop(): Unit = {
    stopped.set(true)
    try context.cancelJobsWithTag(tag)
    // Nothing runs in a context that is over.
    catch { case NonFatal(e) => monitor.info(s"jobs could not be cancelled: $e") }
  }

  /** Only where it is certain that nothing of the batch is committed, or will be. */
  private def remove(txn: RewriteTransaction, batch: Seq[RewriteGroup], why: Throwable): Unit =
    Caught {
      txn.abort()
      batch.foreach(monitor.warn(_, "failed; nothing of it is committed", why))
    }.failed.foreach(why.addSuppressed)

  private def commit(
      txn: RewriteTransaction,
      batch: Seq[RewriteGroup],
      rewritten: Seq[RewriteResult]): Try[Seq[GroupOutcome]] =
    // One at a time: commits of one run need not get into each other's way.
    commits.synchronized {
      if (stopped.get) {
        txn.abort()
        Success(Nil)
      } else {
        val (result, ms) = Timed.ms(
          Caught(summary(rewritten)).fold(
            CommitResult.Refused(_),
            txn.commit(rewritten.map(_.cube), _)))
        result match {
          case CommitResult.Landed(version, failure) =>
            FailurePoint.reached(FailurePoint.AfterCommit)
            rewritten.foreach(one =>
              monitor.info(one.group, s"ZCube ${one.cubeId} is in version $version; $ms ms"))
            failure match {
              case None => Success(rewritten.map(GroupOutcome.Committed(_, version, ms)))
              case Some(e) =>
                stopped.set(true)
                Failure(e)
            }
          case CommitResult.Refused(e: ConcurrentModificationException) =>
            txn.abort()
            batch.foreach(monitor.warn(_, "dropped after a concurrent change", e))
            Success(batch.map(GroupOutcome.Dropped(_, e)))
          case CommitResult.Refused(e) =>
            stopped.set(true)
            remove(txn, batch, e)
            Failure(e)
          case CommitResult.Unknown(e) =>
            stopped.set(true)
            unknown = Some(e)
            batch.foreach(monitor.warn(_, "it isn't known whether it is committed", e))
            Failure(e)
        }
      }
    }

  private def summary(rewritten: Seq[RewriteResult]): CommitSummary = CommitSummary(
    task.layoutTag,
    task.isFull,
    task.isAuto,
    startedAt,
    CommitMetrics.ours(rewritten),
    CommitMetrics.parameters(rewritten))

  /** Rewrites the groups of one commit; after the first failure nothing new starts. */
  private def rewriteAll(
      selection: FileSelection,
      txn: RewriteTransaction,
      batch: Seq[RewriteGroup]): Try[Seq[RewriteResult]] = {
    val rewrite = new GroupRewriter(session, task, selection, txn, monitor, samples)
    def one(group: RewriteGroup): Option[Try[RewriteResult]] = Option.when(!stopped.get) {
      context.addJobTag(tag)
      val outcome =
        try Caught(Sessions.within(session)(rewrite.run(group)))
        finally context.removeJobTag(tag)
      // The files of what still runs are removed afterwards, so it must come to its end first.
      if (outcome.isFailure) stop()
      outcome
    }
    // An interrupt is a failure like others: its files are to be removed.
    val outcomes = Caught {
      if (batch.size == 1) batch.flatMap(one)
      else inParallel(batch)(one).flatMap {
        case Success(done) => done
        case Failure(e) => Some(Failure(e))
      }
    }.recover { case e => Seq(Failure(e)) }.get
    val failures = outcomes.collect { case Failure(e) => e }
    failures.find(!isCancellation(_)).orElse(failures.headOption) match {
      case Some(e) => Failure(e)
      case None => Success(outcomes.map(_.get))
    }
  }

  /** An interrupt of the caller ends what runs, and is passed on when all of it has cleaned up. */
  private def inParallel[A, B](items: Seq[A])(work: A => B): Seq[Try[B]] =
    new Workers("ZCubeOptimize", task.settings.maxThreads, () => stop()).map(items)(work)

  private def isCancellation(e: Throwable): Boolean =
    Option(e.getMessage).exists(m => m.contains("cancelled") && m.contains(tag))
}
