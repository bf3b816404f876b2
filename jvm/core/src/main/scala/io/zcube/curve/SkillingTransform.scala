package io.zcube.curve

/** The Hilbert index of a point by Skilling's loops, for any number of dimensions.
  *
  * Source: J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707, 381 (2004).
  */
object SkillingTransform {

  /** Index of the point, if dimensions × bits is at most 63. */
  def index(point: Array[Int], bits: Int): Long = {
    val axes = transposed(point, bits)
    var result = 0L
    var bit = bits - 1
    while (bit >= 0) {
      var d = 0
      while (d < axes.length) {
        result = (result << 1) | ((axes(d) >>> bit) & 1)
        d += 1
      }
      bit -= 1
    }
    result
  }

  /** Index of the point as bytes, most significant first, so that unsigned byte order is curve
    * order. Length: dimensions × bits, rounded up to whole bytes; spare bits are leading zeros.
    */
  def bytes(point: Array[Int], bits: Int): Array[Byte] = {
    val axes = if (point.length == 1) point else transposed(point, bits)
    val total = axes.length * bits
    val result = new Array[Byte]((total + 7) / 8)
    var at = result.length * 8 - total
    var bit = bits - 1
    while (bit >= 0) {
      var d = 0
      while (d < axes.length) {
        result(at >> 3) = (result(at >> 3) | (((axes(d) >>> bit) & 1) << (7 - (at & 7)))).toByte
        at += 1
        d += 1
      }
      bit -= 1
    }
    result
  }

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
