package io.zcube.clustering.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.types._

import io.zcube.clustering.table.{ClusteringState, ColumnMinMax, ColumnPath, TableVersion, WhereClause}
import io.zcube.concurrent.InParallel
import io.zcube.quality.LayoutQuality
import io.zcube.sql.errors.ZCubeErrors

/** The rows of DESCRIBE CLUSTERING. */
object DescribeClusteringReport {

  /** The name of the row for all columns together. */
  val All = "*"

  val schema: StructType = new StructType()
    .add("column", StringType, nullable = false)
    .add("files", LongType, nullable = false)
    .add("files_with_stats", LongType, nullable = false)
    .add("average_depth", DoubleType)
    .add("maximum_depth", LongType)
    .add("average_overlaps", DoubleType)
    .add("depth_histogram", MapType(IntegerType, LongType, valueContainsNull = false), false)
    .add("constant_files", LongType, nullable = false)
    .add("skipping_effectiveness", DoubleType)
    .add("cubes", LongType, nullable = false)
    .add("bytes", LongType, nullable = false)
    .add("bytes_in_cubes", LongType, nullable = false)
    .add("bytes_fresh", LongType, nullable = false)
    .add("bytes_other_columns", LongType, nullable = false)
    .add("notes", StringType, nullable = false)

  /** The report on some columns, or else on the table's clustering columns, or else on those of the
    * file that was clustered last.
    *
    * Throws ZCUBE_COLUMN_NOT_FOUND, ZCUBE_NO_CLUSTERING_COLUMNS or ZCUBE_UNORDERED_TYPE.
    *
    * @param by    the names of columns, as parts
    * @param where resolved after the columns
    */
  def of(
      version: TableVersion,
      by: Seq[Seq[String]],
      resolver: Resolver,
      where: => WhereClause): Seq[Row] = {
    val columns =
      if (by.nonEmpty) by.map(version.existing(_, resolver))
      else {
        Some(version.clusteringColumns).filter(_.nonEmpty)
          .orElse(version.lastColumns)
          .getOrElse(throw ZCubeErrors.noClusteringColumns(version.table.name))
      }
    columns.foreach(_.checkOrdered())
    rows(columns, ClusteringState.of(version, columns, where))
  }

  private def rows(columns: Seq[ColumnPath], files: ClusteringState): Seq[Row] = {
    val ofEach = columns.indices.map { i => () =>
      val quality = LayoutQuality.ofColumn(files.ranges(i))
      row(columns(i).name, quality, files, notes(columns(i), files.minMax(i), quality.files))
    }
    val ofAll = () => {
      val quality = LayoutQuality.ofBoxes(files.ranges)
      row(All, quality, files, notesOfAll(columns, quality))
    }
    InParallel.map(ofEach :+ ofAll)(_.apply())
  }

  private def row(
      column: String,
      quality: LayoutQuality,
      files: ClusteringState,
      notes: Seq[String]): Row = Row(
    column,
    quality.files.toLong,
    quality.filesWithStats.toLong,
    quality.averageDepth.orNull,
    quality.maximumDepth.map(_.toLong).orNull,
    quality.averageOverlaps.orNull,
    quality.depthHistogram,
    quality.constantFiles.toLong,
    quality.skippingEffectiveness.orNull,
    files.cubes,
    files.bytes,
    files.inCubes,
    files.fresh,
    files.others,
    notes.mkString("; ")
  )

  private def notes(column: ColumnPath, minMax: ColumnMinMax, files: Int): Seq[String] = Seq(
    minMax.noMinimum -> "have no minimum",
    minMax.noMaximum -> "have no maximum",
    minMax.inverted -> "have a maximum below their minimum",
    minMax.onlyNulls -> "hold only NULLs and overlap nothing"
  ).collect { case (count, what) if count > 0 => s"${column.name}: $count of $files files $what" }

  private def notesOfAll(columns: Seq[ColumnPath], quality: LayoutQuality): Seq[String] = {
    val without = quality.files - quality.filesWithStats
    Seq(
      Option.when(columns.size > 1 && without > 0)(
        s"$without of ${quality.files} files have no minimum and maximum in each column"),
      Option.when(quality.measured < quality.filesWithStats)(
        s"depth and overlaps compare a sample of ${quality.measured} files with all " +
          s"${quality.files}")
    ).flatten
  }
}
