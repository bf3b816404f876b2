package io.zcube.clustering.run

import scala.collection.mutable
import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkException
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{GroupBatches, OptimizeTask, RewriteGroup, RewritePlan}
import io.zcube.clustering.table.{FileSelection, RewriteTransaction}
import io.zcube.concurrent.Caught
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.sampling.SampleBudget

/** Runs an OPTIMIZE by columns: plans, then rewrites and commits group by group, several at a time;
  * small groups are combined ([[GroupBatches]]). A group that a concurrent change invalidates is
  * dropped; the others continue. After any other failure nothing new starts, and committed cubes
  * stay.
  *
  * @param listeners get the plan, commits and dropped cubes
  * @param budget    makes the budget for the samples of all groups
  * @param clock     of the statement
  */
final class OptimizeRunner(
    session: SparkSession,
    task: OptimizeTask,
    listeners: Seq[RunListener] = Nil,
    budget: (() => Unit) => SampleBudget = awakened => new SampleBudget(awakened = awakened),
    clock: RunClock = new RunClock) {
  import OptimizeRunner._

  private val monitor = new RunMonitor(session, task, listeners)
  private val jobs = new RunJobs(session.sparkContext, "ZCubeOptimize", monitor.runId)
  private val batches = new GroupBatches(task)
  private val commits = new GroupCommits(task, monitor, jobs)
  private val samples = budget(() => jobs.goOn())

  /** @throws java.util.ConcurrentModificationException if there were cubes, and none could commit
    */
  def run(): RunResult = runAll().orConflict

  /** Whether a run failed with this because a commit happened, or may have. */
  private[run] def isAfterCommit(e: Throwable): Boolean = commits.afterCommit.exists(_ eq e)

  /** As [[run]], but returns even if no group could commit. */
  private[run] def runAll(): RunResult =
    try Sessions.within(session)(planAndRun())
    catch {
      case e: Throwable =>
        commits.afterCommit.filter(_ ne e).foreach { first =>
          if (e.isInstanceOf[InterruptedException]) Thread.currentThread().interrupt()
          throw first
        }
        throw e
    } finally monitor.close()

  private def planAndRun(): RunResult = {
    val planned = RewritePlan.of(task)
    checkDisjoint(planned)
    monitor.begin(planned)
    val shared = batches.commits(planned.groups)
    // What waits for another's read when the run ends must not begin its own.
    val prepared = new PreparedBatches(
      planned.selection,
      shared,
      read = reading =>
        jobs.cancellable {
          jobs.goOn()
          reading
        })
    val threads = task.settings.maxThreads
    val outcomes =
      if (task.settings.commitsWholeBatches) {
        shared.flatMap(batch => finish(Seq(rewriteAndCommit(prepared, batch, threads))))
      } else {
        val (commitsAtOnce, each) = batches.threads(shared)
        finish(jobs.inParallel(shared, commitsAtOnce)(rewriteAndCommit(prepared, _, each).get))
      }
    RunResult(planned, outcomes.sortBy(_.group.number), clock.startedAt)
  }

  private def finish(outcomes: Seq[Try[Seq[GroupOutcome]]]): Seq[GroupOutcome] = {
    jobs.firstFailure(outcomes).foreach {
      // For Spark's exception of a failed job, the error says what it means for the table.
      case e: SparkException => throw ZCubeErrors.rewriteFailed(task.tableName, e)
      case e => throw e
    }
    outcomes.flatMap(_.get)
  }

  /** One commit for the whole batch.
    *
    * @param threads how many of its jobs run at a time
    */
  private def rewriteAndCommit(
      prepared: PreparedBatches,
      batch: Seq[RewriteGroup],
      threads: Int): Try[Seq[GroupOutcome]] =
    if (jobs.areOver) Success(Nil)
    else if (isOver) Success(batch.map(GroupOutcome.NotStarted))
    else {
      val outcome = Caught(prepared.within(batch) { selection =>
        val (valid, lost) = commits.withoutLost(selection, batch)
        if (valid.isEmpty) Success(lost)
        else {
          val txn = selection.begin(session, valid.flatMap(_.files))
          rewriteAll(selection, txn, valid, threads) match {
            case Failure(e) =>
              commits.abort(txn, valid, e)
              Failure(e)
            case Success(Nil) if !jobs.areOver =>
              txn.abort()
              Success(lost ++ valid.map(GroupOutcome.NotStarted))
            case Success(rewritten) =>
              val started = rewritten.iterator.map(_.group.number).toSet
              val late = valid.filterNot(group => started(group.number))
              commits.commit(txn, rewritten).map(lost ++ _ ++ late.map(GroupOutcome.NotStarted))
          }
        }
      }).flatten
      if (outcome.isFailure) jobs.cancel()
      outcome
    }

  private def isOver: Boolean = clock.isOver(task.options.maxDuration)

  /** Whether jobs that haven't started are left. */
  private def isLate: Boolean = !task.settings.commitsWholeBatches && isOver

  /** Rewrites the groups of a commit; after the first failure, or once the statement's time is over,
    * nothing new starts.
    */
  private def rewriteAll(
      selection: FileSelection,
      txn: RewriteTransaction,
      batch: Seq[RewriteGroup],
      threads: Int): Try[Seq[RewriteResult]] = {
    val rewrite =
      new GroupRewriter(session, task, selection, txn, monitor, samples, () => jobs.goOn())
    def one(groups: Seq[RewriteGroup]): Option[Try[Seq[RewriteResult]]] =
      Option.when(!jobs.areOver && !isLate) {
        val outcome = jobs.cancellable(Caught(Sessions.within(session)(rewrite.run(groups))))
        // Running work must finish first, because its files are removed afterwards.
        if (outcome.isFailure) jobs.cancel()
        outcome
      }
    val together = batches.jobs(batch)
    // An interrupt is a failure like others: the files must be removed.
    val outcomes = Caught {
      if (together.size == 1) together.flatMap(one)
      else jobs.inParallel(together, threads)(one(_).map(_.get)).flatMap {
        case Success(done) => done.map(Success(_))
        case Failure(e) => Some(Failure(e))
      }
    }.recover { case e => Seq(Failure(e)) }.get
    jobs.firstFailure(outcomes) match {
      case Some(e) => Failure(e)
      case None => Success(outcomes.flatMap(_.get).sortBy(_.group.number))
    }
  }
}

object OptimizeRunner {

  /** No commit of a run is checked against its others, so two groups with a file in common would
    * double its rows.
    */
  private[run] def checkDisjoint(planned: RewritePlan): Unit = {
    val seen = mutable.HashSet.empty[String]
    planned.groups.iterator.flatMap(_.files).map(_.path).find(!seen.add(_)).foreach { path =>
      throw ZCubeErrors.internal(s"$path is in two groups of files")
    }
  }
}
