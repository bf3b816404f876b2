package io.zcube.curve

/** Interleaves the bits of any number of values, bit by bit: the highest bit of each value in turn,
  * the first value's first, then the next bit of each.
  */
private[curve] object BitByBit {

  /** The lowest `bits` bits of each value; together at most 63. */
  def toLong(values: Array[Int], bits: Int): Long = {
    var result = 0L
    var bit = bits - 1
    while (bit >= 0) {
      var i = 0
      while (i < values.length) {
        result = (result << 1) | ((values(i) >>> bit) & 1)
        i += 1
      }
      bit -= 1
    }
    result
  }

  /** The same as bytes, most significant first, so that their unsigned order is that of the bits.
    * Length: values × bits, rounded up to whole bytes; spare bits are leading zeros.
    */
  def toBytes(values: Array[Int], bits: Int): Array[Byte] = {
    val total = values.length * bits
    val result = new Array[Byte]((total + 7) / 8)
    var at = result.length * 8 - total
    var bit = bits - 1
    while (bit >= 0) {
      var i = 0
      while (i < values.length) {
        result(at >> 3) = (result(at >> 3) | (((values(i) >>> bit) & 1) << (7 - (at & 7)))).toByte
        at += 1
        i += 1
      }
      bit -= 1
    }
    result
  }
}
