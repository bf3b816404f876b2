package io.zcube.curve

/** The Hilbert curve for any number of dimensions and bits, with indexes as bytes.
  *
  * The index is the same number as in [[HilbertCurve]], big-endian, in the fewest whole bytes that
  * hold `dimensions * bits` bits. All indexes of one curve have the same length, so that unsigned
  * byte order is curve order.
  *
  * @param dimensions number of axes, at least 1
  * @param bits       bits of each coordinate, 1 to 32
  */
final case class WideHilbertCurve(dimensions: Int, bits: Int) extends Serializable {
  SpaceFillingCurve.checkGrid(dimensions, bits)

  private val length = Math.toIntExact((dimensions.toLong * bits + 7) / 8)

  // As in HilbertCurve.
  @transient private[this] var built: HilbertWalk = _

  private def walk: HilbertWalk = {
    var tables = built
    if (tables == null) {
      tables = HilbertWalk(dimensions, bits)
      built = tables
    }
    tables
  }

  /** Index of a point, in a new array.
    *
    * @param point coordinates, each in [0, 2^bits); not checked, not changed
    */
  def index(point: Array[Int]): Array[Byte] =
    if (dimensions <= HilbertStateMachine.MaxDimensions) {
      val result = new Array[Byte](length)
      walk.index(point, result)
      result
    } else {
      SkillingTransform.bytes(point, bits)
    }
}
