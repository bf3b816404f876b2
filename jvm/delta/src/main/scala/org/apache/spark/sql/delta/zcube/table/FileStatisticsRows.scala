package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.{DeltaColumnMapping, Snapshot}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.functions.{col, lit, when}
import org.apache.spark.sql.types.{DataType, NullType}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.concurrent.InParallel
import io.zcube.sql.simulation.SimulatedFile

/** Files as the log describes them: a row each with path, size, tags, and the statistics of some columns.
  *
  * @param rows in Spark's own form of values: no conversion, and no time zone in the way
  */
final class FileStatisticsRows private (val rows: Array[InternalRow], types: IndexedSeq[DataType]) {
  import FileStatisticsRows._

  def only(keep: InternalRow => Boolean): FileStatisticsRows =
    new FileStatisticsRows(rows.filter(keep), types)

  /** With files besides that are not written yet. */
  def and(more: Seq[SimulatedFile]): FileStatisticsRows = {
    val simulated = more.map { file =>
      val perColumn = (FirstColumn until types.size by PerColumn).zipWithIndex.flatMap {
        // Files have no statistics of columns that the table keeps none of.
        case (at, _) if types(at) == NullType => Seq[Any](null, null, null)
        case (_, i) => Seq[Any](file.lower(i), file.upper(i), file.nulls(i))
      }
      val known = Seq[Any](UTF8String.EMPTY_UTF8, 0L, null, null, null, null, file.rows)
      InternalRow.fromSeq(known ++ perColumn)
    }
    new FileStatisticsRows(rows ++ simulated, types)
  }

  /** The files in groups. */
  def by[K](key: InternalRow => K): Map[K, FileStatisticsRows] =
    rows.groupBy(key).map { case (k, members) => k -> new FileStatisticsRows(members, types) }

  /** For each column, what is known of the files' minima and maxima. */
  def extremes: IndexedSeq[ColumnMinMax] =
    InParallel.map(FirstColumn until types.size by PerColumn) { at =>
      ColumnMinMax.of(rows, types(at), at, at + 1, at + 2, Rows)
    }
}

object FileStatisticsRows {

  // Places in a row.
  private[zcube] val Path = 0
  private[zcube] val Size = 1
  private[zcube] val CubeId = 2
  private[zcube] val ZOrderBy = 3
  private[zcube] val Physical = 4
  private[zcube] val Provider = 5
  private val Rows = 6
  private val FirstColumn = 7
  private val PerColumn = 3

  private def tag(name: String): Column = col("tags")(lit(name))
  private[zcube] val zOrderByTag = tag(AddFile.tag(AddFile.Tags.ZCUBE_ZORDER_BY))
  private[zcube] val physicalTag = tag(CubeTags.PhysicalColumns)
  private[zcube] val cubeIdTag = tag(AddFile.tag(AddFile.Tags.ZCUBE_ID))

  /** All files of a snapshot.
    *
    * @param withPaths whether their paths are asked for, which are most of what is collected
    */
  def of(snapshot: Snapshot, columns: Seq[ColumnPath], withPaths: Boolean): FileStatisticsRows =
    collect(snapshot.withStats, snapshot, columns, withPaths)

  /** Some of a snapshot's files. */
  def ofPaths(
      snapshot: Snapshot,
      statistics: LoggedStatistics,
      columns: Seq[ColumnPath],
      paths: collection.Set[String]): FileStatisticsRows = {
    val files = statistics.parsed(Some(FileFilter(paths.iterator)))
    collect(files, snapshot, columns, withPaths = true).only(row => paths(row.getString(Path)))
  }

  /** Files that need not be in the log yet. Runs no Spark job. */
  def ofActions(
      session: SparkSession,
      snapshot: Snapshot,
      files: Seq[AddFile],
      columns: Seq[ColumnPath]): FileStatisticsRows = {
    import org.apache.spark.sql.delta.implicits._
    val described = LoggedStatistics.parsed(snapshot, session.createDataset(files).toDF())
    collect(described, snapshot, columns, withPaths = true)
  }

  private def collect(
      files: org.apache.spark.sql.DataFrame,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      withPaths: Boolean): FileStatisticsRows = {
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
          Seq("minValues", "maxValues", "nullCount").map(kind =>
            PlanningRanges.statistic(statistics, kind +: column.physical))
      }
    }
    val provider = col("clusteringProvider")
    val path = if (withPaths) col("path") else lit("")
    val known = Seq(path, col("size"), cubeIdTag, zOrderByTag, physicalTag, provider)
    val selected = (known :+ rowsColumn(statistics)) ++ perColumn
    val described = files
      .select(selected.zipWithIndex.map { case (column, i) => column.as(s"c$i") }: _*)
      .asInstanceOf[DataFrame]
    val rows = SQLExecution.withNewExecutionId(described.queryExecution) {
      described.queryExecution.executedPlan.executeCollect()
    }
    new FileStatisticsRows(rows, described.schema.map(_.dataType).toIndexedSeq)
  }

  private def rowsColumn(statistics: DataType): Column =
    PlanningRanges.statistic(statistics, Seq("numRecords"))
}
