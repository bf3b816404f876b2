package io.zcube.curve

/** The Hilbert curve of any number of dimensions and bits, its index as bytes.
  *
  * The index is the same number as that of [[HilbertCurve]], big-endian, in as few whole bytes as hold
  * `dimensions * bits` bits. All indexes of one curve have the same length, so that unsigned byte order is curve order.
  *
  * @param dimensions number of axes, at least 1
  * @param bits       bits of each coordinate, 1 to 32
  */
final case class WideHilbertCurve(dimensions: Int, bits: Int) extends Serializable {
  private val grid = Grid(dimensions, bits)
  require(
    grid.totalBits <= Int.MaxValue,
    s"dimensions * bits must be at most ${Int.MaxValue}, got $dimensions * $bits")

  /** Length of every index. */
  val bytes: Int = ((grid.totalBits + 7) / 8).toInt

  @transient private lazy val walk: HilbertWalk = HilbertWalk(dimensions, bits)

  /** The position of `point` on the curve, in a new array. Does not keep or change `point`.
    *
    * @throws IllegalArgumentException when the point is not on the grid
    */
  def index(point: Array[Int]): Array[Byte] = {
    grid.requireContains(point)
    val result = new Array[Byte](bytes)
    if (dimensions <= HilbertStateMachine.MaxDimensions) walk.index(point, result)
    else plainIndex(point.clone(), result)
    result
  }

  private def plainIndex(transposed: Array[Int], result: Array[Byte]): Unit = {
    SkillingTransform.transpose(transposed, bits)
    var position = bytes * 8 - grid.totalBits.toInt
    var bit = bits - 1
    while (bit >= 0) {
      var axis = 0
      while (axis < dimensions) {
        val one = (transposed(axis) >>> bit) & 1
        val byte = position >>> 3
        result(byte) = (result(byte) | (one << (7 - (position & 7)))).toByte
        position += 1
        axis += 1
      }
      bit -= 1
    }
  }
}
