package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.stats.DeltaStatistics.{MAX, MIN, NULL_COUNT, NUM_RECORDS}
import org.apache.spark.sql.delta.{DeltaColumnMapping, Snapshot}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.functions.{col, lit, when}
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.{Column, DataFrame => AnyDataFrame}

import io.zcube.clustering.table.{ColumnPath, FileStatistics}

/** File statistics from Delta's log. */
object LoggedFileStatistics {

  /** The statistics of all files of a snapshot.
    *
    * @param withPaths whether to include their paths, which are most of what is collected
    */
  def of(snapshot: Snapshot, columns: Seq[ColumnPath], withPaths: Boolean): FileStatistics =
    collect(snapshot.withStats, snapshot, columns, withPaths)

  /** The statistics of a random but repeatable sample of a snapshot's files, without paths.
    *
    * @param share the share of the files to sample
    */
  def ofSample(snapshot: Snapshot, columns: Seq[ColumnPath], share: Double): FileStatistics = {
    val files = snapshot.allFiles.toDF().sample(withReplacement = false, share, 42)
    collect(LoggedStatistics.parsed(snapshot, files), snapshot, columns, withPaths = false)
  }

  /** The statistics of some of a snapshot's files. */
  def ofPaths(
      snapshot: Snapshot,
      statistics: LoggedStatistics,
      columns: Seq[ColumnPath],
      paths: collection.Set[String]): FileStatistics = {
    val files = statistics.parsed(Some(FileFilter(paths.iterator)))
    collect(files, snapshot, columns, withPaths = true)
      .only(row => paths(row.getString(FileStatistics.Path)))
  }

  /** The statistics of files that need not be in the log yet. Runs no Spark job. */
  def ofActions(
      session: SparkSession,
      snapshot: Snapshot,
      files: Seq[AddFile],
      columns: Seq[ColumnPath]): FileStatistics = {
    import org.apache.spark.sql.delta.implicits._
    val described = LoggedStatistics.parsed(snapshot, session.createDataset(files).toDF())
    collect(described, snapshot, columns, withPaths = true)
  }

  private def collect(
      files: AnyDataFrame,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      withPaths: Boolean): FileStatistics = {
    val statistics = files.schema("stats").dataType
    val partitions = snapshot.metadata.partitionSchema
      .map(field => Seq(DeltaColumnMapping.getPhysicalName(field)) -> field.dataType)
      .toMap
    val perColumn = columns.flatMap { column =>
      partitions.get(column.physical) match {
        case Some(dataType) =>
          // All rows of a file have the partition's value, or all have NULL.
          val text = col("partitionValues")(lit(column.physical.head))
          val nulls = when(text.isNull, rowsColumn(statistics))
          Seq(text.try_cast(dataType), text.try_cast(dataType), nulls)
        case None =>
          Seq(MIN, MAX, NULL_COUNT).map(kind =>
            StatisticsColumns.of(statistics, kind +: column.physical))
      }
    }
    val path = if (withPaths) col("path") else lit("")
    val known = Seq(
      path,
      col("size"),
      LoggedTags.cubeIdOf(columns),
      LoggedTags.isOfOthers(columns),
      rowsColumn(statistics))
    val described = files
      .select((known ++ perColumn).zipWithIndex.map { case (c, i) => c.as(s"c$i") }: _*)
      .asInstanceOf[DataFrame]
    val rows = SQLExecution.withNewExecutionId(described.queryExecution) {
      described.queryExecution.executedPlan.executeCollect()
    }
    new FileStatistics(rows, described.schema.map(_.dataType).toIndexedSeq)
  }

  private def rowsColumn(statistics: DataType): Column =
    StatisticsColumns.of(statistics, Seq(NUM_RECORDS))
}
