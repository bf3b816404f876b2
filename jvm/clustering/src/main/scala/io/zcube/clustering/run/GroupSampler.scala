package io.zcube.clustering.run

import java.net.URI

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.plan.{OptimizeTask, RewriteGroup}
import io.zcube.clustering.table.{FileScan, FileSelection}
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.LayoutPlan
import io.zcube.sql.sampling.{RowSample, SampleBudget}

/** Samples the clustering columns of a group of files, for its rewriting and for its forecast,
  * which therefore uses the same rows as the run.
  *
  * @param budget for the samples of all groups of the run
  */
final class GroupSampler(
    session: SparkSession,
    task: OptimizeTask,
    selection: FileSelection,
    budget: SampleBudget) {

  private val settings = task.settings
  private val resolver = session.sessionState.conf.resolver

  /** Draws the sample and applies `use` to it. The result must not reference the sample, because
    * there may be many groups. All rows that the log counts must have been seen.
    *
    * @param what the action, for the description of the Spark job
    * @param use  a function of the sample and of the number of files for the group's rows
    */
  def sampled[T](group: RewriteGroup, what: String)(use: (RowSample, Int) => T): T =
    sampled(Seq(group), what)(use)

  /** The same for several groups at once. If there is more than one, each fills a file. */
  def sampled[T](groups: Seq[RewriteGroup], what: String)(use: (RowSample, Int) => T): T = {
    val input = selection.scan(session, groups.flatMap(_.files))
    val counts = groups.map(_.rows)
    val loggedRows = Option.when(counts.forall(_.isDefined))(counts.flatten.sum)
    // With unknown rows, a row limit may make many files of few bytes: the sample is as large as can be.
    val expectedFiles = fileCount(groups, loggedRows.getOrElse(Long.MaxValue))
    val limits = LayoutPlan.limits(expectedFiles, settings.sampleRowsPerFile)
    budget.sampled(limits.bytesOf(task.columns.map(_.dataType))) {
      input.sample(session, task.columns, loggedRows, limits, s"$what: sampling")
    } { sample =>
      loggedRows.filter(_ != sample.rowCount).foreach { logged =>
        val files = differing(groups.flatMap(_.files), input)
        throw ZCubeErrors.loggedRowsMismatch(task.tableName, logged, sample.rowCount, files)
      }
      val files = fileCount(groups, sample.rowCount)
      // Groups that share a job need no cuts between their files.
      val parts = if (groups.size == 1) files else 1
      if (!sample.isEnoughFor(parts)) {
        val columns = task.columns.map(_.name)
        throw ZCubeErrors.sampleTooSmall("OPTIMIZE", columns, sample.rows.length.toLong, parts)
      }
      use(sample, files)
    }
  }

  /** The layout of a single group, from a sample that may be empty. */
  def layoutOf(group: RewriteGroup, sample: RowSample, files: Int): LayoutPlan =
    if (sample.rowCount == 0) LayoutPlan.of(sample, files, task.layoutRequest())
    else {
      val minFiles = task.minFileCount(group, sample.rowCount)
      val request = task.layoutRequest(group.planned.extents)
      LayoutPlan.within(sample, minFiles, files, request)
    }

  /** Files whose number of rows read differs from the log's count. */
  private def differing(files: Seq[DataFile], input: FileScan): Seq[String] =
    try {
      val path = input.position.head
      val counted = Aggregate(
        Seq(path),
        Seq(path, Alias(Count(Literal(1)).toAggregateExpression(), "rows")()),
        input.plan)
      val read =
        Sessions.rowsOf(session, counted).collect()
          .map(r => decoded(r.getString(0)) -> r.getLong(1))
          .toMap.withDefaultValue(0L)
      for {
        file <- files
        path = decoded(file.path)
        logged <- file.rows if logged != read(path)
      } yield s"$path: $logged in the log, ${read(path)} read"
    } catch {
      // This is only a detail of another error, which matters more.
      case NonFatal(_) => Nil
    }

  /** Writers may encode a path differently from Spark. */
  private def decoded(path: String): String = new URI(path).getPath

  private def fileCount(groups: Seq[RewriteGroup], rows: Long): Int = groups match {
    case Seq(group) => task.fileCount(group, Some(rows))
    case several => several.size
  }

  /** The clustering columns, as expressions over the group's rows. */
  def clusteringColumns(input: FileScan): Seq[Expression] =
    input.expressions(task.columns, resolver)
}
