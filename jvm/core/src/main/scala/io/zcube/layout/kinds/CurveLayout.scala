package io.zcube.layout.kinds

import io.zcube.curve.SpaceFillingCurve
import io.zcube.layout.{Layout, RankScale}

/** A layout along a space-filling curve: bucket of each column → rank → key on the curve → file.
  *
  * If the index is composed of a contribution from each column (Z-order, linear order), the
  * contributions are in tables, and a key costs one array access and one OR for each column. A
  * Hilbert key costs a call of the curve.
  *
  * @param curve  the curve, with a dimension for each column
  * @param scales the rank scale of each column
  */
final class CurveLayout(curve: SpaceFillingCurve, scales: Array[RankScale]) extends Layout {
  require(
    curve.dimensions == scales.length,
    s"a curve of ${curve.dimensions} dimensions can't lay out ${scales.length} columns")

  override def dimensions: Int = scales.length

  /** Whether [[contributions]] can replace [[keyOf]]. */
  val isSeparable: Boolean = curve.isSeparable

  /** For a separable curve: by column and bucket, what that bucket adds to the key. */
  def contributions(column: Int): Array[Long] = scales(column).ranks.map(contribution(column, _))

  /** What a NULL in the column adds to the key of a separable curve. */
  def nullContribution(column: Int): Long = contribution(column, Layout.NullRank)

  override def ranks(column: Int): Array[Int] = scales(column).ranks

  override def keyOf(point: Array[Int]): Long = curve.index(point)

  private def contribution(column: Int, rank: Int): Long = {
    val point = new Array[Int](dimensions)
    point(column) = rank
    curve.index(point)
  }
}
