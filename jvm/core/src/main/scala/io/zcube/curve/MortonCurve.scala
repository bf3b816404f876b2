package io.zcube.curve

/** Z-order: the interleaved bits of the coordinates, the first coordinate's bit first.
  *
  * {{{
  *   point (y, x) = (1 0, 1 1)   index = y1 x1 y0 x0 = 1 1 0 1
  * }}}
  */
final case class MortonCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  SpaceFillingCurve.check(dimensions, bits)

  override def isSeparable: Boolean = true

  override def index(point: Array[Int]): Long = {
    var result = 0L
    var bit = bits - 1
    while (bit >= 0) {
      var d = 0
      while (d < dimensions) {
        result = (result << 1) | ((point(d) >>> bit) & 1)
        d += 1
      }
      bit -= 1
    }
    result
  }
}
