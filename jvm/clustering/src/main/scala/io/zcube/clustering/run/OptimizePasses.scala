package io.zcube.clustering.run

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{OptimizeTask, RewritePlan}
import io.zcube.clustering.table.TableVersion

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

  /** Throws what [[OptimizeRunner.run]] throws. Conflicts of the second pass alone are no error.
    *
    * @return with the plan of the first pass, and the outcomes of both
    */
  def run(): RunResult = {
    val first = new OptimizeRunner(session, task.copy(regroups = false), listeners).run()
    second(first).fold(first) { again =>
      val runner = new OptimizeRunner(session, again, listeners, from = first.startedAt)
      first.copy(outcomes = first.outcomes ++ runner.runAll().outcomes)
    }
  }

  private def second(first: RunResult): Option[OptimizeTask] =
    if (first.committed.size < first.outcomes.size) None
    else if (OptimizePasses.mayRegroup(task, first.plan)) {
      val left = task.planOptions.maxBytes.map(_ - first.committed.map(_.group.liveBytes).sum)
      Sessions.within(session) {
        val latest = task.version.table.latest()
        Option.when(isSame(latest) && left.forall(_ > 0))(task.copy(
          version = latest,
          options = task.options.copy(maxBytes = left),
          onlyRegroups = true))
      }
    } else None

  /** Columns and conditions are those of one schema. */
  private def isSame(latest: TableVersion): Boolean =
    latest.schema == task.version.schema &&
      latest.partitionColumns == task.version.partitionColumns &&
      latest.clusteringColumns == task.version.clusteringColumns
}

object OptimizePasses {

  /** Whether there will be something to regroup once a plan of the first pass is carried out. What is
    * clustered in part, because of a budget, waits for the rest.
    */
  def mayRegroup(task: OptimizeTask, plan: RewritePlan): Boolean = {
    val isNew = plan.groups.exists(_.planned.overlapping)
    def isOld = plan.considered.exists(_.cube.exists(c => c.matches && c.overlapping.isDefined))
    val isPart = plan.plan.overBudget.exists(_.file.cube.isEmpty)
    !task.isAuto && !isPart && (if (isNew) task.planOptions.maxBytes.isEmpty else isOld)
  }

  /** The bytes that a second pass rewrites if all that a plan divides can be regrouped. */
  def dividedBytes(task: OptimizeTask, plan: RewritePlan): Long =
    if (!mayRegroup(task, plan)) 0L
    else plan.groups.filter(_.planned.overlapping).map(_.bytes).sum
}
