package io.zcube.curve

/** Interleaves the bits of INTs into bytes whose unsigned order is Z-order.
  *
  * {{{
  *   values a, b  →  a31 b31 a30 b30 … a0 b0   (8 bytes, big-endian)
  * }}}
  *
  * Up to eight values are interleaved a byte of each at a time: a table spreads the byte's bits as
  * far apart as there are values, and the spread bytes are shifted into each other's gaps.
  */
object BitInterleaver {

  /** With more values a spread byte no longer fits into a long. */
  private val MostTabled = 8

  /** spread(n)(byte): bit i of the byte at bit i × n. */
  private val spread: Array[Array[Long]] = Array.tabulate(MostTabled + 1) { n =>
    Array.tabulate(256) { byte =>
      (0 until 8).filter(i => n > 0 && ((byte >> i) & 1) == 1).map(i => 1L << (i * n)).sum
    }
  }

  /** The values' interleaved bits, four bytes for each value; the first value's bit comes first. */
  def interleave(values: Array[Int]): Array[Byte] = {
    val result = new Array[Byte](4 * values.length)
    if (values.length <= MostTabled) byTable(values, result) else bitByBit(values, result)
    result
  }

  private def byTable(values: Array[Int], result: Array[Byte]): Unit = {
    val n = values.length
    val table = spread(n)
    var out = 0
    var shift = 24
    while (shift >= 0) {
      var word = 0L
      var i = 0
      while (i < n) {
        word |= table((values(i) >>> shift) & 0xff) << (n - 1 - i)
        i += 1
      }
      i = 8 * (n - 1)
      while (i >= 0) {
        result(out) = (word >>> i).toByte
        out += 1
        i -= 8
      }
      shift -= 8
    }
  }

  private def bitByBit(values: Array[Int], result: Array[Byte]): Unit = {
    var at = 0
    var bit = 31
    while (bit >= 0) {
      var i = 0
      while (i < values.length) {
        result(at >> 3) = (result(at >> 3) | (((values(i) >>> bit) & 1) << (7 - (at & 7)))).toByte
        at += 1
        i += 1
      }
      bit -= 1
    }
  }
}
