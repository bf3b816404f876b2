package io.zcube.curve

/** The Hilbert curve in Skilling's orientation: points next to each other on the curve differ by 1 in one coordinate.
  * {{{
  * y\x  0  1  2  3
  *  0   0  1 14 15
  *  1   3  2 13 12
  *  2   4  7  8 11
  *  3   5  6  9 10
  * }}}
  * In one dimension it is the identity. Up to 6 dimensions the index comes from [[HilbertStateMachine]] without any
  * allocation, above from [[SkillingTransform]] on a copy of the point. For more than 63 bits see [[WideHilbertCurve]].
  * (J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 381, 2004.)
  *
  * @param dimensions number of axes; `dimensions * bits` is at most 63
  * @param bits       bits of each coordinate, 1 to 32
  */
final case class HilbertCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  private val grid = Grid(dimensions, bits)
  grid.requireLongIndex()

  @transient private lazy val walk: HilbertWalk = HilbertWalk(dimensions, bits)

  override def index(point: Array[Int]): Long = {
    grid.requireContains(point)
    if (dimensions <= HilbertStateMachine.MaxDimensions) walk.index(point) else plainIndex(point)
  }

  private def plainIndex(point: Array[Int]): Long = {
    val transposed = point.clone()
    SkillingTransform.transpose(transposed, bits)
    MortonCurve.interleave(transposed, bits)
  }
}
