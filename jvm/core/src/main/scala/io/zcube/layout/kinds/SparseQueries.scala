package io.zcube.layout.kinds

import io.zcube.layout.kdtree.BoxWidths
import io.zcube.layout.{BucketedSample, ColumnWeights, Layout, RowSetRanges, Workload}

/** Judges files of mostly-NULL columns by what three kinds of queries read.
  *
  * The first asks for values of one column, of all columns equally often. The second asks for each
  * non-NULL value equally often, so for columns with many NULLs less often. The third asks for all
  * values of a row.
  *
  * @param weights of the columns, 0 for one without statistics; empty if all are equal
  */
final private[kinds] class SparseQueries(sample: BucketedSample, weights: Seq[Double]) {
  import SparseQueries._

  private val points: Array[Array[Int]] = sample.points

  private val ofColumns: Seq[BoxWidths] = {
    val ranks = sample.scales.map(_.ranks.length + Layout.NullRank + 1)
    val alike = if (weights.isEmpty) points.map(_ => 1.0) else weights.toArray
    val byValues = alike.zip(points).map { case (weight, column) =>
      // Not 0, even for a column with only NULLs.
      weight * (column.count(_ != Layout.NullRank) + 1.0) / (column.length + 1.0)
    }
    Seq(alike, byValues).map(new BoxWidths(points, ranks, _))
  }

  private val hasStatistics: Array[Boolean] =
    points.indices.toArray.map(ColumnWeights.hasStatistics(weights, _))

  private val rows: Array[Int] = points.head.indices.toArray

  private val rowsWithValues: Array[Int] = rows.filter(row => points.indices.exists(asks(row, _)))

  /** The product of what the kinds of queries read, in files of about even size.
    *
    * @param fileOf the file of each sampled row
    * @param files  their number
    */
  def reading(fileOf: Array[Int], files: Int): Double = {
    val ranges = new RowSetRanges(points.length, files)
    ranges.clear(files)
    ranges.addRows(points, rows, 0, rows.length)(fileOf(_))
    ofColumns.map(meanWidth(_, ranges, files)).product * filesOfRow(ranges, files)
  }

  /** The mean of the files' widths in all columns together. */
  private def meanWidth(widths: BoxWidths, ranges: RowSetRanges, files: Int): Double = {
    var sum = 0.0
    var c = 0
    while (c < points.length) {
      var file = 0
      while (file < files) {
        sum += widths.of(c, ranges.minimum(file, c), ranges.maximum(file, c))
        file += 1
      }
      c += 1
    }
    sum / files
  }

  /** The mean number of files that may hold all values of a row, over some rows with values. */
  private def filesOfRow(ranges: RowSetRanges, files: Int): Double = {
    val minTested = math.max(MinTested, MaxTested / files)
    val every = math.max(1, rowsWithValues.length / minTested)
    var read, tested = 0L
    var at = 0
    while (at < rowsWithValues.length) {
      val box = valuesOf(rowsWithValues(at))
      var file = 0
      while (file < files) {
        if (ranges.touches(file, box)) read += 1
        file += 1
      }
      tested += 1
      at += every
    }
    // Not 0, if there are only NULLs.
    math.max(1L, read).toDouble / math.max(1L, tested)
  }

  /** Whether the third kind of query asks for the row's value of a column. */
  private def asks(row: Int, column: Int): Boolean =
    hasStatistics(column) && points(column)(row) != Layout.NullRank

  private def valuesOf(row: Int): Workload.Box = {
    val columns = points.indices.toArray
    def ifAsked(otherwise: Int) =
      columns.map(c => if (asks(row, c)) points(c)(row) else otherwise)
    Workload.Box(ifAsked(1), ifAsked(Int.MaxValue), columns.map(!asks(row, _)))
  }
}

private object SparseQueries {

  /** The number of rows, times files, that are tested, but at least this many rows. */
  private val MaxTested = 200000
  private val MinTested = 20
}
