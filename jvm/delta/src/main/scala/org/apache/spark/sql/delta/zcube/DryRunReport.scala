package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.types._

import io.zcube.planning.PlannedFile

/** The rows of `OPTIMIZE … DRY RUN`: one for each cube that would be written, the most useful first, and
  * one for each reason why files stay as they are.
  */
object DryRunReport {

  private val File = new StructType()
    .add("path", StringType, nullable = false)
    .add("reason", StringType, nullable = false)
    .add("bytes", LongType, nullable = false)

  private val schema: StructType = new StructType()
    .add("cube", IntegerType)
    .add("action", StringType, nullable = false)
    .add("partition", MapType(StringType, StringType))
    .add("reasons", MapType(StringType, LongType, valueContainsNull = false), nullable = false)
    .add("files", LongType, nullable = false)
    .add("bytes_read", LongType, nullable = false)
    .add("bytes_written", LongType, nullable = false)
    .add("file_list", ArrayType(File, containsNull = false), nullable = false)

  def output: Seq[Attribute] = toAttributes(schema)

  def rows(planned: PlannedRun): Seq[Row] = {
    val cubes = planned.groups.zipWithIndex.map { case (group, i) =>
      // What deletion vectors delete is read, but not written again.
      row(
        Some(i + 1),
        "rewrite",
        Some(group.partitionValues),
        group.planned.files,
        group.bytes,
        group.liveBytes)
    }
    val over = planned.plan.overBudget
    cubes ++ unchanged("leave", over) ++ unchanged("stay", planned.plan.kept.diff(over))
  }

  private def unchanged(action: String, files: Seq[PlannedFile]): Seq[Row] =
    files.groupBy(_.reason.text).toSeq.sortBy(_._1).map { case (_, of) =>
      row(None, action, None, of, 0L, 0L)
    }

  private def row(
      cube: Option[Int],
      action: String,
      partition: Option[Map[String, String]],
      files: Seq[PlannedFile],
      read: Long,
      written: Long): Row = Row(
    cube.orNull,
    action,
    partition.orNull,
    PlannedFile.counts(files).map { case (reason, count) => reason -> count.toLong },
    files.size.toLong,
    read,
    written,
    files.sortBy(_.file.path).map(f => Row(f.file.path, f.reason.text, f.file.bytes))
  )
}
