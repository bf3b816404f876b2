package io.zcube.curve

/** Lexicographic order: the first coordinate decides, then the second, and so on. */
final case class LinearCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  SpaceFillingCurve.check(dimensions, bits)

  override def isSeparable: Boolean = true

  override def index(point: Array[Int]): Long = {
    var result = 0L
    var d = 0
    while (d < dimensions) {
      result = (result << bits) | (point(d) & 0xffffffffL)
      d += 1
    }
    result
  }
}
