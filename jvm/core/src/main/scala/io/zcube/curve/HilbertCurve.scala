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
  * Two to five dimensions run on tables ([[HilbertStates]]), several bits of each coordinate a step;
  * more dimensions run Skilling's loops ([[SkillingTransform]]).
  *
  * Source: J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004).
  */
final case class HilbertCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  SpaceFillingCurve.check(dimensions, bits)

  // Tables are shared and rebuilt where the curve is deserialized.
  @transient private lazy val states: HilbertStates = HilbertStates.of(dimensions)

  override def isSeparable: Boolean = dimensions == 1

  override def index(point: Array[Int]): Long =
    if (dimensions == 1) point(0) & 0xffffffffL
    else if (dimensions <= HilbertStates.MostDimensions) states.index(point, bits)
    else SkillingTransform.index(point, bits)
}
