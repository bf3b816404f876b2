package io.zcube.clustering.report

import java.util.UUID

import org.apache.spark.SparkException
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{GroupDescription, OptimizeTask, RewriteGroup, RewritePlan, SecondPass}
import io.zcube.clustering.run.{GroupSampler, PreparedBatches, RunJobs}
import io.zcube.clustering.table.ClusteringState
import io.zcube.concurrent.Caught
import io.zcube.quality.LayoutQuality
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.sampling.SampleBudget
import io.zcube.sql.simulation.SimulatedFile

/** The expected benefit and cost of a planned run.
  *
  * @param filesBefore files of the whole table, not only those that WHERE selects
  * @param filesAfter  the same after the run
  * @param history     the cost of earlier runs
  * @param cpuTimeMs   for all cores together; None if there is no history
  * @param quality     what queries can skip afterwards, if requested
  */
final case class Forecast(
    filesBefore: Long,
    filesAfter: Long,
    history: RewriteHistory,
    cpuTimeMs: Option[Long],
    quality: Option[Forecast.Quality])

object Forecast {

  /** The predicted quality, from a sample of the rows that would be rewritten.
    *
    * @param rows    number of rows that would be rewritten
    * @param sampled number of these that were sampled
    * @param columns each column, and all together, as [[DescribeClusteringReport.All]]:
    *                current and predicted
    */
  final case class Quality(
      rows: Long,
      sampled: Long,
      columns: Seq[(String, LayoutQuality, LayoutQuality)])

  /** Reads the log, and with `sampling` the clustering columns of the files to rewrite.
    *
    * @param session the run's session ([[LayoutSession]]), so that the forecast reads what the run
    *   will read
    */
  def of(
      session: SparkSession,
      task: OptimizeTask,
      planned: RewritePlan,
      sampling: Boolean): Forecast = Sessions.within(session) {
    val history =
      if (planned.groups.isEmpty) RewriteHistory.Empty else RewriteHistory.of(task.version)
    val bytes = planned.groups.map(_.storedBytes).sum + SecondPass.unplannedBytes(task, planned)
    val cpuTime = if (bytes == 0) Some(0L) else history.cpuTimeOf(bytes)
    val (quality, written) =
      if (sampling) simulate(session, task, planned)
      else {
        val counts = planned.groups.map(group => task.fileCount(group, group.rows))
        (None, counts.map(_.toLong).sum)
      }
    val before = task.version.fileCount
    val removed = planned.groups.map(_.files.size.toLong).sum
    Forecast(before, before - removed + written, history, cpuTime, quality)
  }

  private def simulate(
      session: SparkSession,
      task: OptimizeTask,
      planned: RewritePlan): (Option[Quality], Long) = {
    val simulated = simulatedGroups(session, task, planned)
    val files = simulated.flatMap(_.files)
    val removed = planned.groups.flatMap(_.files).map(_.path).toSet
    val (before, after) =
      ClusteringState.rangesBeforeAndAfter(task.version, task.columns, removed, files)
    val quality = Quality(
      simulated.map(_.rows).sum,
      simulated.map(_.sampled).sum,
      task.columns.map(_.name).zipWithIndex.map { case (name, i) =>
        (name, LayoutQuality.ofColumn(before(i)), LayoutQuality.ofColumn(after(i)))
      } :+
        ((
          DescribeClusteringReport.All,
          LayoutQuality.ofBoxes(before),
          LayoutQuality.ofBoxes(after)))
    )
    (Some(quality), files.size.toLong)
  }

  /** @param rows    of a group
    * @param sampled how many of them were sampled
    */
  final private case class SimulatedGroup(
      rows: Long,
      sampled: Long,
      files: Seq[SimulatedFile])

  /** Several groups at a time: each takes a Spark job, and a table may have thousands of partitions. */
  private def simulatedGroups(
      session: SparkSession,
      task: OptimizeTask,
      planned: RewritePlan): Seq[SimulatedGroup] = {
    val jobs = new RunJobs(session.sparkContext, "ZCubeForecast", UUID.randomUUID().toString)
    val budget = new SampleBudget(awakened = () => jobs.goOn())
    val sampler = new GroupSampler(session, task, planned.selection, budget)
    // What waits for another's read when the forecast ends must not begin its own.
    val prepared = new PreparedBatches(
      planned.selection,
      planned.groups.map(Seq(_)),
      read = reading => {
        jobs.goOn()
        reading
      })
    def simulate(group: RewriteGroup) = prepared.within(Seq(group)) { _ =>
      sampler.sampled(group, GroupDescription.ofForecast(task, group)) { (sample, files) =>
        val layout = sampler.layoutOf(group, sample, files)
        val simulated = SimulatedFile.of(sample, layout.filesOf(sample))
        SimulatedGroup(sample.rowCount, sample.rows.length.toLong, simulated)
      }
    }
    val outcomes = jobs.inParallel(planned.groups, task.settings.maxThreads) { group =>
      jobs.goOn()
      val outcome = jobs.cancellable(Caught(Sessions.within(session)(simulate(group))))
      if (outcome.isFailure) jobs.cancel()
      outcome.get
    }
    jobs.firstFailure(outcomes).foreach {
      case e: SparkException => throw ZCubeErrors.sampleFailed(task.tableName, e)
      case e => throw e
    }
    outcomes.map(_.get)
  }
}
