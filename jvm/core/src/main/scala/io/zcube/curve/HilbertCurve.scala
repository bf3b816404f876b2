package io.zcube.curve

/** The Hilbert curve in Skilling's orientation: neighbours on it differ by 1 in one coordinate.
  *
  * {{{
  *   2 dimensions, 2 bits; x to the right, y down
  *    0  1 14 15
  *    3  2 13 12
  *    4  7  8 11
  *    5  6  9 10
  * }}}
  *
  * Up to six dimensions run on tables ([[HilbertStateMachine]]), several bits of each coordinate a
  * step; more dimensions run Skilling's loops ([[SkillingTransform]]) on a copy of the point. For more
  * than 63 bits in all see [[WideHilbertCurve]].
  *
  * Source: J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004).
  */
final case class HilbertCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  SpaceFillingCurve.check(dimensions, bits)

  // Tables are shared and rebuilt where the curve is deserialized.
  @transient private lazy val walk: HilbertWalk = HilbertWalk(dimensions, bits)

  override def isSeparable: Boolean = dimensions == 1

  override def index(point: Array[Int]): Long =
    if (dimensions == 1) point(0) & 0xffffffffL
    else if (dimensions <= HilbertStateMachine.MaxDimensions) walk.index(point)
    else SkillingTransform.index(point, bits)
}
