package io.zcube.layout.kdtree

import io.zcube.layout.Layout

/** Measures boxes of ranks by what queries see of them.
  *
  * The width of a box in a column is the share of the column's values that lie between the smallest and
  * the greatest value in the box: about how likely a narrow range of that column, begun at some value,
  * touches it. NULLs have no width, as no comparison finds them, and a column of few values among NULLs
  * counts as much as a full one: who clusters by it asks for its values.
  *
  * @param points  for each column, the rank of each sampled row; NULL has [[Layout.NullRank]]
  * @param ranks   for each column, ranks are in [0, ranks)
  * @param weights what a column's width counts, each greater than 0
  */
final private[layout] class BoxWidths(
    points: Array[Array[Int]],
    ranks: Array[Int],
    weights: Array[Double]) {

  /** By column and rank: weight times the share of the values with a smaller rank. */
  private val below: Array[Array[Double]] = points.indices.toArray.map { c =>
    val counts = new Array[Int](ranks(c) + 1)
    points(c).foreach(rank => counts(rank + 1) += 1)
    counts(Layout.NullRank + 1) = 0
    val values = math.max(1, counts.sum)
    counts.scanLeft(0L)(_ + _).tail.map(_ * weights(c) / values)
  }

  /** The weighted width in a column of the values from rank `low` to rank `high`; 0 for none. */
  def of(column: Int, low: Int, high: Int): Double =
    if (low > high) 0.0 else below(column)(high + 1) - below(column)(low)
}
