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
  * Up to six dimensions run on tables ([[HilbertStateMachine]]), several bits of each coordinate
  * per step; more dimensions run Skilling's loops ([[SkillingTransform]]) on a copy of the point.
  * For more than 63 bits in total see [[WideHilbertCurve]].
  *
  * Source: J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004).
  */
final case class HilbertCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  SpaceFillingCurve.check(dimensions, bits)

  // Tables are shared, and rebuilt where the curve is deserialized. This needs neither a lazy val
  // nor a lock: a walk is immutable, so building it twice is harmless, and a volatile read would
  // take a sixth of the time of `index`.
  @transient private[this] var walk: HilbertWalk = _

  override def isSeparable: Boolean = dimensions == 1

  override def index(point: Array[Int]): Long = {
    val tables = walk
    if (tables != null) tables.index(point) else indexAtFirst(point)
  }

  private def indexAtFirst(point: Array[Int]): Long =
    if (dimensions == 1) point(0) & 0xffffffffL
    else if (dimensions <= HilbertStateMachine.MaxDimensions) {
      val tables = HilbertWalk(dimensions, bits)
      walk = tables
      tables.index(point)
    } else SkillingTransform.index(point, bits)
}
