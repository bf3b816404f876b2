package io.zcube.curve

/** An order of all the points of a grid in which points near on the curve are near in space.
  *
  * Sorting rows by [[index]] and cutting the sorted rows into files gives each file a small bounding box over all the
  * columns at once; how small is what sets the curves apart.
  * {{{
  * val curve = HilbertCurve(dimensions = 2, bits = 2)
  * curve.index(Array(2, 0)) // 14
  * }}}
  */
trait SpaceFillingCurve extends Serializable {

  /** Number of coordinates of a point. */
  def dimensions: Int

  /** Bits of each coordinate. */
  def bits: Int

  /** The position of `point` on the curve, from 0 to `2^(dimensions * bits) - 1`; one to one. Does not keep or change
    * `point`, and allocates nothing unless the implementation says so.
    *
    * @throws IllegalArgumentException when the point is not on the grid
    */
  def index(point: Array[Int]): Long
}
