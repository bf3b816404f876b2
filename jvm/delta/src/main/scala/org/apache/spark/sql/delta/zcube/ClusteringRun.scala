package org.apache.spark.sql.delta.zcube

import java.util.ConcurrentModificationException
import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}
import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkException
import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.util.BinPackingUtils
import org.apache.spark.util.{SystemClock, ThreadUtils, Utils}

import io.zcube.sql.errors.ZCubeErrors

/** Runs an OPTIMIZE by columns: plans, then rewrites and commits cube by cube, several at a time. A
  * cube that a concurrent change made void is dropped; the others go on. After any other failure
  * nothing new begins, and what is committed stays.
  */
final class ClusteringRun(session: SparkSession, task: ClusteringTask) {

  private val context = session.sparkContext
  private val monitor = new RunMonitor(session, task)
  private val tag = s"zcube-${monitor.runId}"
  private val stopped = new AtomicBoolean(false)
  private val startedAt = System.currentTimeMillis()
  private val removedAt = new SystemClock().getTimeMillis()
  private val manager = new CommitManager(session, task)

  /** The row that the command returns.
    *
    * @throws java.util.ConcurrentModificationException if there were cubes, and none could commit
    */
  def run(): Row =
    try session.withActive(planAndRun())
    finally monitor.close()

  private def planAndRun(): Row = {
    val planned = PlannedRun.of(session, task)
    monitor.begin(planned)
    val workload = WorkloadReport.of(task)
    val outcomes = task.settings.batchBytes match {
      case Some(size) =>
        BinPackingUtils
          .binPackBySize[FileGroup, FileGroup](planned.groups, _.bytes, identity, size)
          .filter(_.nonEmpty)
          .flatMap(batch => finish(Seq(rewriteAndCommit(batch))))
      case None =>
        finish(inParallel(planned.groups)(group => rewriteAndCommit(Seq(group))))
    }
    val conflicts = outcomes.collect { case CubeOutcome.Dropped(_, conflict) => conflict }
    if (conflicts.nonEmpty && !outcomes.exists(_.isInstanceOf[CubeOutcome.Committed])) {
      throw conflicts.head
    }
    ClusteringReport.row(session, task, planned, outcomes, workload, startedAt)
  }

  /** Throws the failure that came first in time; those of jobs cancelled for its sake are no cause. */
  private def finish(outcomes: Seq[Try[Seq[CubeOutcome]]]): Seq[CubeOutcome] = {
    val failures = outcomes.collect { case Failure(e) => e }
    failures.find(!isCancellation(_)).orElse(failures.headOption).foreach {
      // Spark's own exception for a failed job: say what it means for the table.
      case e: SparkException => throw ZCubeErrors.rewriteFailed(task.tableName, e)
      case e => throw e
    }
    outcomes.flatMap(_.get)
  }

  /** One commit for all of the batch. */
  private def rewriteAndCommit(batch: Seq[FileGroup]): Try[Seq[CubeOutcome]] =
    if (stopped.get) Success(Nil)
    else if (task.options.maxDuration.exists(System.currentTimeMillis() - startedAt >= _)) {
      Success(batch.map(CubeOutcome.NotStarted))
    } else {
      val txn =
        new ClusteringTransaction(context, task.snapshot.deltaLog, task.catalogTable, task.snapshot)
      txn.trackFilesRead(batch.flatMap(_.files))
      txn.trackReadPredicates(task.predicates)
      val outcome = rewriteAll(txn, batch) match {
        case Failure(e) =>
          txn.removeWrittenFiles()
          batch.foreach(monitor.warn(_, "failed; nothing of it is committed", e))
          Failure(e)
        case Success(rewritten) => commit(txn, batch, rewritten)
      }
      if (outcome.isFailure && !stopped.getAndSet(true)) context.cancelJobsWithTag(tag)
      outcome
    }

  private def commit(
      txn: ClusteringTransaction,
      batch: Seq[FileGroup],
      rewritten: Seq[RewrittenGroup]): Try[Seq[CubeOutcome]] =
    // One at a time: commits of one run need not get into each other's way.
    manager.synchronized {
      if (stopped.get) {
        txn.removeWrittenFiles()
        Success(Nil)
      } else {
        Try(Utils.timeTakenMs(manager.commit(txn, rewritten))) match {
          case Success((version, ms)) =>
            rewritten.foreach(one =>
              monitor.info(one.group, s"ZCube ${one.cubeId} is in version $version; $ms ms"))
            Success(rewritten.map(CubeOutcome.Committed(_, version, ms)))
          // Surely not committed. After any other error the commit may have gone through.
          case Failure(e: ConcurrentModificationException) =>
            txn.removeWrittenFiles()
            batch.foreach(monitor.warn(_, "dropped after a concurrent change", e))
            Success(batch.map(CubeOutcome.Dropped(_, e)))
          case Failure(e) => Failure(e)
        }
      }
    }

  /** Rewrites the groups of one commit; after the first failure nothing new starts. */
  private def rewriteAll(
      txn: ClusteringTransaction,
      batch: Seq[FileGroup]): Try[Seq[RewrittenGroup]] = {
    val rewrite = new GroupRewrite(session, task, txn, monitor)
    val failed = new AtomicBoolean(false)
    def one(group: FileGroup): Option[Try[RewrittenGroup]] = Option.when(!failed.get) {
      context.addJobTag(tag)
      val outcome =
        try Try(session.withActive(rewrite.run(group, removedAt)))
        finally context.removeJobTag(tag)
      // The files of what still runs are removed afterwards, so it must come to its end first.
      if (outcome.isFailure && !failed.getAndSet(true)) context.cancelJobsWithTag(tag)
      outcome
    }
    val outcomes =
      try if (batch.size == 1) batch.flatMap(one) else inParallel(batch)(one).flatten
      // A failure like others: its files are to be removed.
      catch { case e: InterruptedException => Seq(Failure(e)) }
    val failures = outcomes.collect { case Failure(e) => e }
    failures.find(!isCancellation(_)).orElse(failures.headOption) match {
      case Some(e) => Failure(e)
      case None => Success(outcomes.map(_.get))
    }
  }

  /** An interrupt of the caller ends what runs, and is passed on when all of it has cleaned up. */
  private def inParallel[A, B](items: Seq[A])(work: A => B): Seq[B] = {
    val threads = math.max(1, math.min(task.settings.maxThreads, items.size))
    val pool = ThreadUtils.newDaemonFixedThreadPool(threads, "ZCubeOptimize")
    implicit val workers: ExecutionContext = ExecutionContext.fromExecutor(pool)
    try {
      val results = Future.sequence(items.map(item => Future(work(item))))
      try ThreadUtils.awaitResult(results, Duration.Inf)
      catch {
        case e: InterruptedException =>
          stopped.set(true)
          cancelUntil(results)
          throw e
      }
    } finally pool.shutdown()
  }

  /** A thread that is between two jobs has none to cancel, so again and again. */
  @tailrec
  private def cancelUntil(results: Future[_]): Unit = {
    context.cancelJobsWithTag(tag)
    if (Try(Await.ready(results, 1.second)).isFailure) cancelUntil(results)
  }

  private def isCancellation(e: Throwable): Boolean =
    Option(e.getMessage).exists(m => m.contains("cancelled") && m.contains(tag))
}
