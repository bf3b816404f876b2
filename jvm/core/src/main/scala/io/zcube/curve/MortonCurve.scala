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

  override def index(point: Array[Int]): Long = BitByBit.toLong(point, bits)
}
