package io.zcube.curve

import io.zcube.range.UnsafeBytes

/** The Hilbert curve of any number of dimensions and bits, its index as bytes.
  *
  * The index is the same number as that of [[HilbertCurve]], big-endian, in as few whole bytes as hold
  * `dimensions * bits` bits. All indexes of one curve have the same length, so that unsigned byte order is curve order.
  *
  * @param dimensions number of axes, at least 1
  * @param bits       bits of each coordinate, 1 to 32
  */
final case class WideHilbertCurve(dimensions: Int, bits: Int) extends Serializable {
  SpaceFillingCurve.checkGrid(dimensions, bits)

  private val length = Math.toIntExact((dimensions.toLong * bits + 7) / 8)

  // Tables are shared and rebuilt where the curve is deserialized.
  @transient private lazy val walk: HilbertWalk = HilbertWalk(dimensions, bits)

  /** Index of a point, in a new array.
    *
    * @param point coordinates, each in [0, 2^bits); not checked, not changed
    */
  def index(point: Array[Int]): Array[Byte] =
    if (dimensions <= HilbertStateMachine.MaxDimensions) {
      val result = new Array[Byte](length)
      if (length == java.lang.Long.BYTES) UnsafeBytes.putLong(result, 0, walk.index(point))
      else if (length < java.lang.Long.BYTES) write(walk.index(point), result)
      else walk.index(point, result)
      result
    } else {
      SkillingTransform.bytes(point, bits)
    }

  // The Long walk is the faster one, and 64 bits are as good as 63 where nobody looks at the sign.
  private def write(index: Long, result: Array[Byte]): Unit = {
    var rest = index
    var position = length - 1
    while (position >= 0) {
      result(position) = rest.toByte
      rest >>>= 8
      position -= 1
    }
  }
}
