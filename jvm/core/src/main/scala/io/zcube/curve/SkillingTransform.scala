package io.zcube.curve

/** The Hilbert index of a point by Skilling's loops, for any number of dimensions.
  *
  * Source: J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004).
  */
object SkillingTransform {

  /** Index of the point, if dimensions × bits is at most 63. */
  def index(point: Array[Int], bits: Int): Long = BitByBit.toLong(transposed(point, bits), bits)

  /** Index of the point as bytes, most significant first, so that unsigned byte order is curve
    * order. Length: dimensions × bits, rounded up to whole bytes; spare bits are leading zeros.
    */
  def bytes(point: Array[Int], bits: Int): Array[Byte] =
    BitByBit.toBytes(if (point.length == 1) point else transposed(point, bits), bits)

  /** The index in transposed form: bit i of coordinate d, of n, is bit i × n + (n − 1 − d) of the
    * index.
    */
  private def transposed(point: Array[Int], bits: Int): Array[Int] = {
    val x = point.clone()
    val n = x.length
    // Inverse undo: from the highest bit down, reflect or exchange the lower bits.
    var bit = bits - 1
    while (bit > 0) {
      val lower = (1 << bit) - 1
      var i = 0
      while (i < n) {
        if (((x(i) >>> bit) & 1) == 1) {
          x(0) ^= lower
        } else {
          val swap = (x(0) ^ x(i)) & lower
          x(0) ^= swap
          x(i) ^= swap
        }
        i += 1
      }
      bit -= 1
    }
    // Gray encode.
    var i = 1
    while (i < n) {
      x(i) ^= x(i - 1)
      i += 1
    }
    var parity = 0
    bit = bits - 1
    while (bit > 0) {
      if (((x(n - 1) >>> bit) & 1) == 1) parity ^= (1 << bit) - 1
      bit -= 1
    }
    i = 0
    while (i < n) {
      x(i) ^= parity
      i += 1
    }
    x
  }
}
