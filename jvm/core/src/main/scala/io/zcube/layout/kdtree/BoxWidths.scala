package io.zcube.layout.kdtree

/** Measures boxes of ranks by what queries see of them.
  *
  * The width of a box in a column is the share of the table's rows whose value lies between the
  * smallest and the greatest value in the box: about how likely a narrow range of that column, begun
  * at some row's value, touches it. NULL counts as a value below all others: a file of values without
  * NULLs, or of NULLs alone, is skipped by one kind of query more.
  *
  * @param points  for each column, the rank of each sampled row; NULL has [[Layout.NullRank]]
  * @param ranks   for each column, ranks are in [0, ranks)
  * @param weights what a column's width counts, each greater than 0
  */
final private[layout] class BoxWidths(
    points: Array[Array[Int]],
    ranks: Array[Int],
    weights: Array[Double]) {

  /** By column and rank: weight times the share of rows with a smaller rank. */
  private val below: Array[Array[Double]] = points.indices.toArray.map { c =>
    val counts = new Array[Int](ranks(c) + 1)
    points(c).foreach(rank => counts(rank + 1) += 1)
    counts.scanLeft(0L)(_ + _).tail.map(_ * weights(c) / math.max(1, points(c).length))
  }

  /** The weighted width in a column of the values from rank `low` to rank `high`; 0 for none. */
  def of(column: Int, low: Int, high: Int): Double =
    if (low > high) 0.0 else below(column)(high + 1) - below(column)(low)
}
