package io.zcube.curve

/** The plain Hilbert transform, one bit of one coordinate at a time, for any number of dimensions.
  *
  * It needs no table, which makes it the way for many dimensions, where [[HilbertStateMachine]] would be too big.
  * (J. Skilling, "Programming the Hilbert curve", AIP Conference Proceedings 707, 381, 2004.)
  */
private[curve] object SkillingTransform {

  /** Turns a point, in place, into its Hilbert index in transposed form: interleaving the bits of the resulting values,
    * first value first, gives the index.
    *
    * @param point coordinates of `bits` bits, overwritten
    */
  def transpose(point: Array[Int], bits: Int): Unit = {
    undoExcessWork(point, bits)
    grayEncode(point, bits)
  }

  /** From the top level down: a set bit turns the axis 0 around below it, a clear bit swaps that axis with axis 0. */
  private def undoExcessWork(point: Array[Int], bits: Int): Unit = {
    var level = bits - 1
    while (level > 0) {
      val below = (1 << level) - 1
      var axis = 0
      while (axis < point.length) {
        if (((point(axis) >>> level) & 1) == 1) {
          point(0) ^= below
        } else {
          val swap = (point(0) ^ point(axis)) & below
          point(0) ^= swap
          point(axis) ^= swap
        }
        axis += 1
      }
      level -= 1
    }
  }

  private def grayEncode(point: Array[Int], bits: Int): Unit = {
    var axis = 1
    while (axis < point.length) {
      point(axis) ^= point(axis - 1)
      axis += 1
    }
    val last = point(point.length - 1)
    var carry = 0
    var level = bits - 1
    while (level > 0) {
      if (((last >>> level) & 1) == 1) carry ^= (1 << level) - 1
      level -= 1
    }
    axis = 0
    while (axis < point.length) {
      point(axis) ^= carry
      axis += 1
    }
  }
}
