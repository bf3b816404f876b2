package io.zcube.layout.kdtree

import io.zcube.layout.Layout

/** Measures boxes of ranks by how many queries they affect.
  *
  * The width of a box in a column is the share of the column's values between the smallest and the
  * largest value in the box: roughly the probability that a narrow range of that column, starting
  * at some value, touches it. So a column with few values among NULLs counts as much as a full one,
  * because queries ask for its values. NULL counts in addition, by its share of the rows: a file
  * with only values, or only NULLs, is skipped by one more kind of query.
  *
  * @param points  for each column, the rank of each sampled row; NULL has [[Layout.NullRank]]
  * @param ranks   for each column, ranks are in [0, ranks)
  * @param weights factor for each column's width
  */
final private[layout] class BoxWidths(
    points: Array[Array[Int]],
    ranks: Array[Int],
    weights: Array[Double]) {

  /** By column and rank: the weighted width of NULL and all values with a smaller rank. */
  private val below: Array[Array[Double]] = points.indices.toArray.map { c =>
    val counts = new Array[Int](ranks(c))
    points(c).foreach(rank => counts(rank) += 1)
    val rows = math.max(1, points(c).length)
    val nulls = counts(Layout.NullRank)
    val values = math.max(1, rows - nulls)
    counts(Layout.NullRank) = 0
    val upTo = counts.scanLeft(0L)(_ + _).map(_ * weights(c) / values)
    upTo.zipWithIndex.map { case (width, rank) =>
      if (rank > Layout.NullRank) width + weights(c) * nulls / rows else width
    }
  }

  /** The weighted width in a column of the values from rank `low` to rank `high`; 0 for none. */
  def of(column: Int, low: Int, high: Int): Double =
    if (low > high) 0.0 else below(column)(high + 1) - below(column)(low)
}
