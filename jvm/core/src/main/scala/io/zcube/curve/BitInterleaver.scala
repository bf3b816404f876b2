package io.zcube.curve

/** Bit interleaving of whole `Int`s, the Z-order key of any number of columns.
  *
  * With two columns `y` and `x`, the first the more significant of each pair:
  * {{{
  * y    1 1 0 1 0 1 1 0      = 214
  * x     0 1 1 0 0 0 0 1     =  97
  * key  1011011000101001     = 46633
  * }}}
  * (G. M. Morton, "A computer oriented geodetic data base and a new technique in file sequencing", IBM, 1966.)
  */
object BitInterleaver {

  /** Interleaves the 32 bits of all values, the first value the most significant.
    *
    * @param values any number of values of any bit pattern; not kept, not changed
    * @return a new array of 4 bytes per value, big-endian, whose unsigned byte order is Z-order of the values as unsigned
    *         numbers
    */
  def interleave(values: Array[Int]): Array[Byte] =
    if (values.length <= BitSpread.MaxStride) interleaveBytewise(values)
    else interleaveBitwise(values)

  private def interleaveBytewise(values: Array[Int]): Array[Byte] = {
    val columns = values.length
    val result = new Array[Byte](columns * 4)
    val spread = BitSpread.table(columns)
    var position = 0
    var shift = 24
    while (shift >= 0) {
      var word = 0L
      var column = 0
      while (column < columns) {
        // The first column ends up leftmost in each group of `columns` bits.
        word = (word << 1) | spread((values(column) >>> shift) & 0xff)
        column += 1
      }
      var byte = columns - 1
      while (byte >= 0) {
        result(position + byte) = word.toByte
        word >>>= 8
        byte -= 1
      }
      position += columns
      shift -= 8
    }
    result
  }

  private def interleaveBitwise(values: Array[Int]): Array[Byte] = {
    val columns = values.length
    val result = new Array[Byte](columns * 4)
    var position = 0
    var bit = 31
    while (bit >= 0) {
      var column = 0
      while (column < columns) {
        val one = (values(column) >>> bit) & 1
        val byte = position >>> 3
        result(byte) = (result(byte) | (one << (7 - (position & 7)))).toByte
        position += 1
        column += 1
      }
      bit -= 1
    }
    result
  }
}
