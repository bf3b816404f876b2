package io.zcube.clustering.run

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{OptimizePass, OptimizeTask, RewritePlan}
import io.zcube.clustering.table.{ColumnPath, TableVersion}
import io.zcube.concurrent.Causes
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
    val first =
      new OptimizeRunner(session, task.copy(pass = OptimizePass.First), listeners).runAll()
    val both = explaining(first, _ => false)(second(first)).fold(first) { again =>
      val runner = new OptimizeRunner(session, again, listeners, from = first.startedAt)
      explaining(first, runner.isAfterCommit)(first.and(runner.runAll()))
    }
    both.orConflict
  }

  /** Says what a failure of the second pass leaves. What ends the run, or comes after a commit, says
    * what it is by itself.
    */
  private def explaining[T](first: RunResult, isAfterCommit: Throwable => Boolean)(body: => T): T =
    try body
    catch {
      case e: Throwable if !isAfterCommit(e) && !Causes.endsRun(e) =>
        if (first.committed.isEmpty) first.conflicts.headOption.foreach { conflict =>
          conflict.addSuppressed(e)
          throw conflict
        }
        val failed = ZCubeErrors.regroupFailed(task.tableName, e)
        first.conflicts.foreach(failed.addSuppressed)
        throw failed
    }

  private def second(first: RunResult): Option[OptimizeTask] = {
    val waiting = OptimizePasses.waiting(first.plan, first.outcomes)
    if (isOver(first) || !OptimizePasses.mayRegroup(task, first.plan, waiting)) None
    else
      Sessions.within(session) {
        val latest = task.version.table.latest()
        OptimizePasses
          .second(task.copy(version = latest), waiting, first.begunBytes)
          .filter(_ => isSame(latest))
      }
  }

  private def isOver(first: RunResult) =
    first.outcomes.exists {
      case GroupOutcome.NotStarted(_) => true
      case _ => false
    } || task.options.maxDuration.exists(System.currentTimeMillis() - first.startedAt >= _)

  private def isSame(latest: TableVersion): Boolean =
    OptimizePasses.isSame(task.version, latest, task.columns, session.sessionState.conf.resolver)
}

object OptimizePasses {

  /** Whether columns and conditions mean the same in both versions. Fields may have other metadata:
    * Delta has the last value of an identity column there.
    */
  def isSame(
      earlier: TableVersion,
      latest: TableVersion,
      columns: Seq[ColumnPath],
      resolver: Resolver): Boolean = {
    // WHERE may name any of them.
    val all = earlier.schema.fieldNames.flatMap(name => earlier.column(Seq(name), resolver))
    DataTypeUtils.sameType(latest.schema, earlier.schema) &&
    (columns ++ all).forall(column => latest.column(column.logical, resolver).contains(column)) &&
    latest.partitionColumns == earlier.partitionColumns &&
    latest.clusteringColumns == earlier.clusteringColumns
  }

  /** The plan of a statement for DRY RUN. If the first pass makes jobs that overlap, what the second
    * one does with them isn't known yet, and isn't included.
    */
  def plan(task: OptimizeTask): RewritePlan = {
    val first = RewritePlan.of(task.copy(pass = OptimizePass.First))
    val left = waiting(first, Nil)
    if (isDivided(first) || !mayRegroup(task, first, left)) first
    else second(task, left, first.groups.map(_.liveBytes).sum).fold(first)(again =>
      first.and(RewritePlan.of(again)))
  }

  /** The bytes that a second pass rewrites besides, at most. */
  def unplannedBytes(task: OptimizeTask, plan: RewritePlan): Long = {
    val left = waiting(plan, Nil)
    if (!isDivided(plan) || !mayRegroup(task, plan, left)) 0L
    else {
      val rewritten = plan.groups.iterator.flatMap(_.files).map(_.path).toSet
      val marked = plan.groups.filter(_.planned.overlapping).map(_.storedBytes).sum +
        plan.considered.iterator.filter(f => isMarked(f) && !rewritten(f.path))
          .map(_.storedBytes).sum
      budget(task, plan.groups.map(_.liveBytes).sum).fold(0L)(math.min(marked, _))
    }
  }

  private def isDivided(plan: RewritePlan) = plan.groups.exists(_.planned.overlapping)

  private def isMarked(file: DataFile) =
    file.cube.exists(cube => cube.matches && cube.overlapping.isDefined)

  /** The partitions that are clustered in part, because of a budget or a conflict of what is to be
    * regrouped. Regrouping waits for the rest.
    */
  private def waiting(plan: RewritePlan, outcomes: Seq[GroupOutcome]): Set[Map[String, String]] = {
    val over = plan.plan.overBudget.iterator.map(_.file).filterNot(_.cube.exists(_.matches))
    val dropped = outcomes.iterator.collect {
      case GroupOutcome.Dropped(group, _) if group.planned.overlapping => group.files
    }.flatten
    (over ++ dropped).map(_.partition).toSet
  }

  /** Whether there may be something to regroup once a plan of the first pass is carried out. */
  private def mayRegroup(
      task: OptimizeTask,
      plan: RewritePlan,
      waiting: Set[Map[String, String]]): Boolean =
    task.mayRegroup && (isDivided(plan) || plan.plan.mayRegroup) && (waiting.isEmpty || {
      val divided = plan.groups.iterator.filter(_.planned.overlapping).flatMap(_.files)
      (divided ++ plan.considered.iterator.filter(isMarked)).exists(f => !waiting(f.partition))
    })

  /** None if the first pass used up the budget.
    *
    * @param spent live bytes that it rewrote
    */
  private def second(
      task: OptimizeTask,
      waiting: Set[Map[String, String]],
      spent: Long): Option[OptimizeTask] =
    budget(task, spent).map { left =>
      val maxBytes = task.planOptions.maxBytes.map(_ => left)
      task.copy(
        options = task.options.copy(maxBytes = maxBytes),
        pass = OptimizePass.Second(waiting))
    }

  /** What the first pass leaves for the second; None if that makes no cube that stays. */
  private def budget(task: OptimizeTask, spent: Long): Option[Long] = {
    val left = task.planOptions.maxBytes.fold(Long.MaxValue)(_ - spent)
    Option.when(left >= math.max(1L, task.planOptions.minCubeBytes))(left)
  }
}
