package io.zcube.curve

/** The lexicographic order: the first coordinate decides, the next one only among equals.
  *
  * Perfect for predicates on the first column and close to useless for the others, as in a table sorted by `(x, y)`.
  *
  * @param dimensions number of axes; `dimensions * bits` is at most 63
  * @param bits       bits of each coordinate, 1 to 32
  */
final case class LinearCurve(dimensions: Int, bits: Int) extends SpaceFillingCurve {
  private val grid = Grid(dimensions, bits)
  grid.requireLongIndex()

  override def index(point: Array[Int]): Long = {
    grid.requireContains(point)
    var result = 0L
    var axis = 0
    while (axis < dimensions) {
      result = (result << bits) | (point(axis) & grid.maxCoordinate)
      axis += 1
    }
    result
  }
}
