package io.zcube.clustering.run

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.JobCpuTime
import org.apache.spark.sql.zcube.RewriteProgress.RewriteJobs

import io.zcube.clustering.plan.{GroupDescription, OptimizeTask, RewriteGroup, RewritePlan}
import io.zcube.clustering.table.FileStatistics
import io.zcube.sql.metrics.OptimizeTotals

/** Monitors a run: log lines that begin with table and run, CPU time, quality before and after
  * ([[GroupQualities]]). Failures here never make a run fail.
  *
  * @param session   a clone of the user's session ([[LayoutSession]])
  * @param listeners in addition to [[RunListener.Totals]]
  */
final class RunMonitor(session: SparkSession, task: OptimizeTask, listeners: Seq[RunListener])
    extends Logging {
  import RunMonitor._

  // Users configure the logger by this name, independent of the class name.
  override protected def logName: String = "io.zcube.optimize"

  /** Appears in log lines and in the tag of the run's Spark jobs. */
  val runId: String = UUID.randomUUID().toString

  private val cpuTime = new JobCpuTime(session.sparkContext)
  OptimizeTotals.activeRuns.incrementAndGet(): Unit

  @volatile private var qualities: Option[GroupQualities] = None

  def begin(run: RewritePlan): Unit = {
    qualities = Some(new GroupQualities(task, run, (groups, e) => warn(groups, NotMeasured, e)))
    tell(_.planned(run))
    info(
      s"${run.cubes} cubes to write of ${run.groups.map(_.files.size).sum} files, " +
        s"${run.considered.size} files considered")
  }

  def committed(results: Seq[RewriteResult], version: Long, ms: Long): Unit = {
    results.foreach { result =>
      info(result.group, s"ZCube ${result.cubeIds} is in version $version; $ms ms")
    }
    tell(_.committed(results))
  }

  def dropped(groups: Seq[RewriteGroup], conflict: Exception): Unit = {
    warn(groups, "dropped after a concurrent change", conflict)
    tell(_.dropped(groups))
  }

  /** Must be called at the end of the run, however it ends. */
  def close(): Unit = {
    OptimizeTotals.activeRuns.decrementAndGet(): Unit
    cpuTime.close()
  }

  private def tell(event: RunListener => Unit): Unit =
    (RunListener.Totals +: listeners).foreach(listener => guarded(event(listener)))

  def info(text: String): Unit = guarded(logInfo(s"${task.tableName}: OPTIMIZE $runId: $text"))

  def info(group: RewriteGroup, text: String): Unit =
    info(s"${GroupDescription.inLog(group)}: $text")

  /** Logs one stack trace for all groups of a commit; with none, for the run. */
  def warn(groups: Seq[RewriteGroup], text: String, cause: Throwable): Unit = {
    val what = Option.when(groups.nonEmpty)(groups.map(GroupDescription.inLog).mkString(", "))
    val run = s"${task.tableName}: OPTIMIZE $runId"
    guarded(logWarning((Seq(run) ++ what :+ text).mkString(": "), cause))
  }

  /** A logger may be configured to throw errors, for example on a full disk. */
  private def guarded(telling: => Unit): Unit =
    try telling
    catch { case NonFatal(_) => }

  /** Marks the Spark jobs of `body` for [[RewriteProgress]], and measures their CPU milliseconds, if
    * possible.
    *
    * @param groups what it rewrites
    */
  def cpuMsOf[T](groups: Seq[RewriteGroup])(body: => T): (T, Option[Long]) = {
    val first = groups.head
    val jobs = RewriteJobs(
      runId,
      first.number,
      groups.map(_.cubes).sum,
      first.total,
      groups.map(_.storedBytes).sum)
    jobs.within(session.sparkContext)(cpuTime.of(s"$runId/${first.number}")(body))
  }

  /** Adds quality before and after.
    *
    * @param added statistics of the new files of all results
    */
  def withQuality(results: Seq[RewriteResult])(added: => FileStatistics): Seq[RewriteResult] =
    qualities.fold(results)(_.addedTo(results)(added))
}

object RunMonitor {

  private val NotMeasured = "quality before and after could not be measured"
}
