package io.zcube.layout.kinds

import io.zcube.layout.kdtree.BoxWidths
import io.zcube.layout.{BucketedSample, ColumnWeights, Layout}

/** Judges files of mostly-NULL columns by what three kinds of queries read.
  *
  * The first asks for values of one column, of all columns equally often. The second asks for each
  * non-NULL value equally often, so for columns with many NULLs less often. The third asks for all
  * values of a row.
  *
  * @param weights of the columns; empty if all are equal
  */
final private[kinds] class SparseQueries(sample: BucketedSample, weights: Seq[Double]) {
  import SparseQueries._

  private val points: Array[Array[Int]] =
    sample.buckets.map(_.map(_ - BucketedSample.NullBucket + Layout.NullRank))

  private val ofColumns: Seq[BoxWidths] = {
    val ranks = sample.scales.map(_.ranks.length + Layout.NullRank + 1)
    val alike = if (weights.isEmpty) points.map(_ => 1.0) else weights.toArray
    val byValues = alike.zip(points).map { case (weight, column) =>
      // Not 0, even for a column with only NULLs.
      weight * (column.count(_ != Layout.NullRank) + 1.0) / (column.length + 1.0)
    }
    Seq(alike, byValues).map(new BoxWidths(points, ranks, _))
  }

  /** The columns that files can be skipped by, those with the fewest values first: most files hold
    * none of them.
    */
  val told: Array[Int] = points.indices
    .filter(c => weights.isEmpty || weights(c) > ColumnWeights.Nothing)
    .sortBy(c => points(c).count(_ != Layout.NullRank)).toArray

  private val rowsWithValues: Array[Int] =
    points.head.indices.filter(row => told.exists(points(_)(row) != Layout.NullRank)).toArray

  /** The product of what the kinds of queries read.
    *
    * @param fileOf the file of each sampled row
    * @param files  their number
    */
  def reading(fileOf: Array[Int], files: Int): Double = {
    val low = points.map(_ => Array.fill(files)(Int.MaxValue))
    val high = points.map(_ => Array.fill(files)(-1))
    for (c <- points.indices) {
      var row = 0
      while (row < fileOf.length) {
        val rank = points(c)(row)
        if (rank != Layout.NullRank) {
          val file = fileOf(row)
          if (rank < low(c)(file)) low(c)(file) = rank
          if (rank > high(c)(file)) high(c)(file) = rank
        }
        row += 1
      }
    }
    ofColumns.map(meanWidth(_, low, high)).product * filesOfRow(low, high)
  }

  /** The mean of the files' widths in all columns together. */
  private def meanWidth(
      widths: BoxWidths,
      low: Array[Array[Int]],
      high: Array[Array[Int]]): Double = {
    val files = low.head.length
    points.indices.map { c =>
      (0 until files).map(file => widths.of(c, low(c)(file), high(c)(file))).sum
    }.sum / files
  }

  /** The mean number of files that may hold all values of a row, over some rows with values. */
  private def filesOfRow(low: Array[Array[Int]], high: Array[Array[Int]]): Double = {
    val files = low.head.length
    val tested = math.max(MinTested, MaxTested / files)
    val every = math.max(1, rowsWithValues.length / tested)
    var (found, rows, at) = (0L, 0, 0)
    while (at < rowsWithValues.length) {
      val row = rowsWithValues(at)
      val asked = told.filter(points(_)(row) != Layout.NullRank)
      var file = 0
      while (file < files) {
        var c = 0
        while (c < asked.length && {
            val rank = points(asked(c))(row)
            low(asked(c))(file) <= rank && rank <= high(asked(c))(file)
          }) c += 1
        if (c == asked.length) found += 1
        file += 1
      }
      rows += 1
      at += every
    }
    // Not 0, if there are only NULLs.
    math.max(1L, found).toDouble / math.max(1, rows)
  }
}

private object SparseQueries {

  /** The number of rows, times files, that are tested, but at least this many rows. */
  private val MaxTested = 200000
  private val MinTested = 200
}
