package io.zcube.curve

/** A grid of `2^bits` cells along each of `dimensions` axes: the domain of a space-filling curve.
  *
  * Coordinates are unsigned numbers of `bits` bits held in an `Int`. With 32 bits the whole bit pattern counts, so that
  * `-1` stands for 4294967295.
  *
  * @param dimensions number of axes, at least 1
  * @param bits       bits of each coordinate, 1 to 32
  * @throws IllegalArgumentException when either is out of bounds
  */
final case class Grid(dimensions: Int, bits: Int) {
  require(dimensions >= 1, s"dimensions must be at least 1, got $dimensions")
  require(
    bits >= Grid.MinBits && bits <= Grid.MaxBits,
    s"bits must be from ${Grid.MinBits} to ${Grid.MaxBits}, got $bits")

  /** Bits of a whole point. */
  val totalBits: Long = dimensions.toLong * bits

  /** The largest coordinate, `2^bits - 1`. */
  val maxCoordinate: Long = (1L << bits) - 1

  // An Int shift by 32 is a shift by 0, hence the detour over Long.
  private val outside: Int = (~maxCoordinate).toInt

  /** Refuses the grid when an index on it does not fit a non-negative `Long`. */
  def requireLongIndex(): Unit =
    require(
      totalBits <= Grid.MaxLongIndexBits,
      s"dimensions * bits must be at most ${Grid.MaxLongIndexBits} for a Long index, " +
        s"got $dimensions * $bits = $totalBits")

  /** Refuses a point of another number of coordinates, or with a coordinate outside of the grid.
    *
    * @throws IllegalArgumentException naming the coordinate and the bits
    */
  def requireContains(point: Array[Int]): Unit = {
    if (point.length != dimensions) {
      throw new IllegalArgumentException(
        s"a point must have $dimensions coordinates, got ${point.length}")
    }
    var seen = 0
    var axis = 0
    while (axis < dimensions) {
      seen |= point(axis)
      axis += 1
    }
    if ((seen & outside) != 0) refuse(point)
  }

  private def refuse(point: Array[Int]): Unit = {
    val axis = point.indexWhere(c => (c & outside) != 0)
    throw new IllegalArgumentException(
      s"coordinate $axis is ${point(axis)}, outside of 0 to $maxCoordinate ($bits bits)")
  }
}

object Grid {
  val MinBits: Int = 1
  val MaxBits: Int = 32

  /** The sign bit stays clear, so that signed order is curve order. */
  val MaxLongIndexBits: Int = 63
}
