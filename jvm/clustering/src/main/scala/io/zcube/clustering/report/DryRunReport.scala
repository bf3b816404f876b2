package io.zcube.clustering.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.types._

import io.zcube.clustering.plan.RewritePlan
import io.zcube.planning.{FileReason, PlannedFile}

/** The rows of `OPTIMIZE … DRY RUN`: one for each group that would be rewritten, the most useful first,
  * one for each reason why files stay as they are, and the forecast for the table.
  */
object DryRunReport {

  /** Of files that stay, so many are listed for each reason. There may be millions. */
  private val MaxListed = 10000

  private val File = new StructType()
    .add("path", StringType, nullable = false)
    .add("reason", StringType, nullable = false)
    .add("bytes", LongType, nullable = false)

  private val Quality = new StructType()
    .add("column", StringType, nullable = false)
    .add("average_depth_before", DoubleType)
    .add("average_depth_after", DoubleType)
    .add("skipping_before", DoubleType)
    .add("skipping_after", DoubleType)

  private val Expected = new StructType()
    .add("files_before", LongType, nullable = false)
    .add("files_after", LongType, nullable = false)
    .add("cpu_time_ms", LongType)
    .add("earlier_runs", IntegerType, nullable = false)
    .add("rows", LongType)
    .add("sampled_rows", LongType)
    .add("quality", ArrayType(Quality, containsNull = false))

  private val schema: StructType = new StructType()
    .add("cube", IntegerType)
    .add("action", StringType, nullable = false)
    .add("partition", MapType(StringType, StringType))
    .add("reasons", MapType(StringType, LongType, valueContainsNull = false), nullable = false)
    .add("files", LongType, nullable = false)
    .add("bytes_read", LongType, nullable = false)
    .add("bytes_written", LongType, nullable = false)
    .add("file_list", ArrayType(File, containsNull = false), nullable = false)
    .add("forecast", Expected)

  def output: Seq[Attribute] = toAttributes(schema)

  def rows(planned: RewritePlan, forecast: Forecast, maxListed: Int = MaxListed): Seq[Row] = {
    val groups = planned.groups.map { group =>
      // Rows deleted by deletion vectors are read, but not written.
      row(
        Some(group.number),
        "rewrite",
        Some(group.partition),
        group.planned.files,
        group.storedBytes,
        group.liveBytes)
    }
    val (over, stay) = planned.plan.kept.partition(_.reason == FileReason.OverBudget)
    val unchangedFiles =
      unchanged("leave", over, maxListed) ++ unchanged("stay", stay, maxListed)
    groups ++ unchangedFiles ++ outside(planned) :+ total(planned, forecast)
  }

  private def total(planned: RewritePlan, forecast: Forecast): Row = Row(
    null,
    "forecast",
    null,
    PlannedFile.counts(planned.groups.flatMap(_.planned.files)).map { case (reason, count) =>
      reason -> count.toLong
    },
    planned.groups.map(_.files.size.toLong).sum,
    planned.groups.map(_.storedBytes).sum,
    planned.groups.map(_.liveBytes).sum,
    Nil,
    Row(
      forecast.filesBefore,
      forecast.filesAfter,
      forecast.cpuTimeMs.orNull,
      forecast.history.runs,
      forecast.quality.map(_.rows).orNull,
      forecast.quality.map(_.sampled).orNull,
      forecast.quality.map(_.columns.map { case (column, before, after) =>
        Row(
          column,
          before.averageDepth.orNull,
          after.averageDepth.orNull,
          before.skippingEffectiveness.orNull,
          after.skippingEffectiveness.orNull)
      }).orNull
    )
  )

  private def unchanged(action: String, files: Seq[PlannedFile], maxListed: Int): Seq[Row] =
    files.groupBy(_.reason.text).toSeq.sortBy(_._1).map { case (_, same) =>
      row(None, action, None, same, 0L, 0L, maxListed)
    }

  /** Files that WHERE excludes are counted, not listed. */
  private def outside(planned: RewritePlan): Option[Row] = Option.when(planned.outside > 0) {
    val reasons = Map(FileReason.NotSelected.text -> planned.outside)
    Row(null, "stay", null, reasons, planned.outside, 0L, 0L, Nil, null)
  }

  private def row(
      cube: Option[Int],
      action: String,
      partition: Option[Map[String, String]],
      files: Seq[PlannedFile],
      read: Long,
      written: Long,
      maxListed: Int = Int.MaxValue): Row = Row(
    cube.orNull,
    action,
    partition.orNull,
    PlannedFile.counts(files).map { case (reason, count) => reason -> count.toLong },
    files.size.toLong,
    read,
    written,
    files.sortBy(_.file.path).take(maxListed)
      .map(f => Row(f.file.path, f.reason.text, f.file.bytes)),
    null
  )
}
