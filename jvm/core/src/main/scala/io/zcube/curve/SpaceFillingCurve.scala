package io.zcube.curve

/** An order of the points of a grid with 2^bits cells per side. Every point has its own index, and
  * points with close indexes are close to each other; how close depends on the curve.
  *
  * Immutable and thread-safe; `index` allocates nothing, except that of a Hilbert curve of more than
  * six dimensions.
  */
trait SpaceFillingCurve extends Serializable {

  /** Number of coordinates of a point. */
  def dimensions: Int

  /** Bits of each coordinate. */
  def bits: Int

  /** Whether the index is the bitwise OR of a contribution from each coordinate. */
  def isSeparable: Boolean

  /** Index of a point, in [0, 2^(dimensions × bits)).
    *
    * @param point coordinates, each in [0, 2^bits); not checked, not changed
    */
  def index(point: Array[Int]): Long
}

object SpaceFillingCurve {

  /** An index must be a non-negative long. */
  val MaxIndexBits: Int = 63

  private[curve] def checkGrid(dimensions: Int, bits: Int): Unit = {
    require(dimensions >= 1, s"dimensions must be positive, not $dimensions")
    require(bits >= 1 && bits <= 32, s"bits must be 1 to 32, not $bits")
  }

  private[curve] def check(dimensions: Int, bits: Int): Unit = {
    checkGrid(dimensions, bits)
    require(
      dimensions.toLong * bits <= MaxIndexBits,
      s"$dimensions dimensions of $bits bits don't fit into $MaxIndexBits bits")
  }
}
