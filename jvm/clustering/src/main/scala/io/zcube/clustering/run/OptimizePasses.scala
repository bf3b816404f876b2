package io.zcube.clustering.run

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{OptimizeTask, RewritePlan}
import io.zcube.clustering.table.TableVersion
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors

/** Runs an OPTIMIZE by columns, and regroups what it had to divide.
  *
  * Of a table that one Spark job can't hold, in no order, each job covers everything, and queries
  * would read files of all of them. So a second pass rewrites their cubes by region, which is possible
  * because their files are small boxes. Whatever ends the statement between the passes, or within the
  * second, loses nothing: the cubes are marked until then, and the second pass of the next statement
  * regroups them. Whatever fails in the second pass, the first is committed.
  *
  * @param session a clone of the user's session ([[LayoutSession]])
  */
final class OptimizePasses(
    session: SparkSession,
    task: OptimizeTask,
    listeners: Seq[RunListener] = Nil) {

  /** Throws what [[OptimizeRunner.run]] throws; conflicts only if they are all that came of both
    * passes. Another failure of the second pass is ZCUBE_REGROUP_FAILED, which says that what the
    * first committed stays.
    *
    * @return with the plan of the first pass, and the outcomes of both
    */
  def run(): RunResult = {
    val first = new OptimizeRunner(session, task.copy(regroups = false), listeners).runAll()
    val both =
      try
        second(first).fold(first) { again =>
          val runner = new OptimizeRunner(session, again, listeners, from = first.startedAt)
          first.and(runner.runAll())
        }
      catch {
        // Whether it committed is all that such an error is about.
        case e: SparkThrowable if e.getCondition == ZCubeErrors.CommitUnknown => throw e
        case NonFatal(e) => throw ZCubeErrors.regroupFailed(task.tableName, e)
      }
    both.orConflict
  }

  private def second(first: RunResult): Option[OptimizeTask] =
    if (isOver(first) || first.outcomes.exists(OptimizePasses.isAwaited) ||
      !OptimizePasses.mayRegroup(task, first.plan)) None
    else
      Sessions.within(session) {
        val latest = task.version.table.latest()
        OptimizePasses
          .second(task.copy(version = latest), first.committed.map(_.group.liveBytes).sum)
          .filter(_ => isSame(latest))
      }

  private def isOver(first: RunResult) =
    task.options.maxDuration.exists(System.currentTimeMillis() - first.startedAt >= _)

  /** Columns and conditions are those of one schema. */
  private def isSame(latest: TableVersion): Boolean =
    latest.schema == task.version.schema &&
      latest.partitionColumns == task.version.partitionColumns &&
      latest.clusteringColumns == task.version.clusteringColumns
}

object OptimizePasses {

  /** The plan of a statement for DRY RUN. If the first pass makes jobs that overlap, what the second
    * one does with them isn't known yet, and isn't included.
    */
  def plan(task: OptimizeTask): RewritePlan = {
    val first = RewritePlan.of(task.copy(regroups = false))
    if (isDivided(first) || !mayRegroup(task, first)) first
    else second(task, first.groups.map(_.liveBytes).sum).fold(first)(again =>
      first.and(RewritePlan.of(again)))
  }

  /** The bytes that a second pass rewrites besides, at most. */
  def unplannedBytes(task: OptimizeTask, plan: RewritePlan): Long =
    if (!isDivided(plan) || !mayRegroup(task, plan)) 0L
    else {
      val rewritten = plan.groups.iterator.flatMap(_.files).map(_.path).toSet
      val marked = plan.groups.filter(_.planned.overlapping).map(_.bytes).sum +
        plan.considered.iterator.filter(f => isMarked(f) && !rewritten(f.path))
          .map(_.storedBytes).sum
      leftOf(task, plan.groups.map(_.liveBytes).sum).fold(marked)(left =>
        math.max(0L, math.min(marked, left)))
    }

  private def isDivided(plan: RewritePlan) = plan.groups.exists(_.planned.overlapping)

  private def isMarked(file: DataFile) =
    file.cube.exists(cube => cube.matches && cube.overlapping.isDefined)

  /** Whether the second pass must wait for a group, which is one of those that it would regroup. */
  private def isAwaited(outcome: GroupOutcome): Boolean = outcome match {
    case GroupOutcome.Committed(_, _, _) => false
    case GroupOutcome.Dropped(group, _) => group.planned.overlapping
    case GroupOutcome.NotStarted(_) => true
  }

  /** Whether there may be something to regroup once a plan of the first pass is carried out. */
  private def mayRegroup(task: OptimizeTask, plan: RewritePlan): Boolean =
    !task.isAuto && (isDivided(plan) || plan.plan.mayRegroup) && !isPart(plan)

  /** Whether a partition that has something to regroup is clustered in part, because of a budget, and
    * so waits for the rest.
    */
  private def isPart(plan: RewritePlan): Boolean = {
    val left = plan.plan.overBudget.iterator.map(_.file)
      .filterNot(_.cube.exists(_.matches)).map(_.partition).toSet
    left.nonEmpty &&
    (plan.considered.iterator.filter(isMarked) ++
      plan.groups.iterator.filter(_.planned.overlapping).flatMap(_.files))
      .exists(file => left(file.partition))
  }

  /** None if the first pass used up the budget.
    *
    * @param spent live bytes that it rewrote
    */
  private def second(task: OptimizeTask, spent: Long): Option[OptimizeTask] = {
    val left = leftOf(task, spent)
    // Less makes no cube that stays.
    Option.when(left.forall(_ >= math.max(1L, task.planOptions.minCubeBytes)))(
      task.copy(options = task.options.copy(maxBytes = left), onlyRegroups = true))
  }

  private def leftOf(task: OptimizeTask, spent: Long): Option[Long] =
    task.planOptions.maxBytes.map(_ - spent)
}
