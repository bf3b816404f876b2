package io.zcube.curve

/** Z-order: the index interleaves the bits of the coordinates, the first coordinate the most significant.
  *
  * The `Long` form of [[BitInterleaver]] for coordinates of few bits, such as range ids.
  *
  * @param dimensions number of axes; `dimensions * bits` is at most 63
  * @param bits       bits of each coordinate, 1 to 32
  */
final case class MortonCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  private val grid = Grid(dimensions, bits)
  grid.requireLongIndex()

  override def index(point: Array[Int]): Long = {
    grid.requireContains(point)
    MortonCurve.interleave(point, bits)
  }
}

object MortonCurve {

  /** Interleaves the low `bits` bits of all values, which must be zero above and fit 63 bits together. */
  private[curve] def interleave(values: Array[Int], bits: Int): Long =
    if (values.length <= BitSpread.MaxStride) interleaveBytewise(values, bits)
    else interleaveBitwise(values, bits)

  private def interleaveBytewise(values: Array[Int], bits: Int): Long = {
    val columns = values.length
    val spread = BitSpread.table(columns)
    var result = 0L
    var shift = (bits - 1) & ~7
    while (shift >= 0) {
      var word = 0L
      var column = 0
      while (column < columns) {
        word = (word << 1) | spread((values(column) >>> shift) & 0xff)
        column += 1
      }
      // A shift by 64 (8 columns) would do nothing, but then there is one round only, with `result` still 0.
      result = (result << (8 * columns)) | word
      shift -= 8
    }
    result
  }

  private def interleaveBitwise(values: Array[Int], bits: Int): Long = {
    var result = 0L
    var bit = bits - 1
    while (bit >= 0) {
      var column = 0
      while (column < values.length) {
        result = (result << 1) | ((values(column) >>> bit) & 1)
        column += 1
      }
      bit -= 1
    }
    result
  }
}
