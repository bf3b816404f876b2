package io.zcube.clustering.run

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{OptimizePass, OptimizeTask, SecondPass}
import io.zcube.clustering.table.{ColumnPath, TableVersion}
import io.zcube.concurrent.Causes
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

  private val clock = new RunClock

  /** Throws what [[OptimizeRunner.run]] throws; conflicts only if they are all that came of both
    * passes. Another failure of the second pass is ZCUBE_REGROUP_FAILED, which says that what the
    * first committed stays.
    *
    * @return with the plan of the first pass, and the outcomes of both
    */
  def run(): RunResult = {
    val first = runner(task.copy(pass = OptimizePass.First)).runAll()
    val both = explaining(first, _ => false)(second(first)).fold(first) { task =>
      val again = runner(task)
      explaining(first, again.isAfterCommit)(first.and(again.runAll()))
    }
    both.orConflict
  }

  private def runner(pass: OptimizeTask) =
    new OptimizeRunner(session, pass, listeners, clock = clock)

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
    val dropped = first.outcomes.iterator.collect {
      case GroupOutcome.Dropped(group, _) if group.planned.overlapping => group.files
    }.flatten
    val waiting = SecondPass.waiting(first.plan, dropped)
    if (isOver(first) || !SecondPass.mayFindWork(task, first.plan, waiting)) None
    else
      Sessions.within(session) {
        val latest = task.version.table.latest()
        SecondPass
          .taskOf(task.copy(version = latest), waiting, first.begunBytes)
          .filter(_ => isSame(latest))
      }
  }

  private def isOver(first: RunResult) =
    first.outcomes.exists {
      case GroupOutcome.NotStarted(_) => true
      case _ => false
    } || clock.isOver(task.options.maxDuration)

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
}
