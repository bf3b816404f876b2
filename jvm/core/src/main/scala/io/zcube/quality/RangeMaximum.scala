package io.zcube.quality

/** The greatest of any run of values, in logarithmic time: a segment tree, the leaves at the end of the
  * array and each parent the greater of its two children.
  */
final private[quality] class RangeMaximum(values: Array[Int]) {
  private val size = values.length
  private val tree = new Array[Int](2 * size)
  System.arraycopy(values, 0, tree, size, size)
  locally {
    var node = size - 1
    while (node > 0) {
      tree(node) = math.max(tree(2 * node), tree(2 * node + 1))
      node -= 1
    }
  }

  /** Both ends included. */
  def apply(from: Int, to: Int): Int = {
    var left = from + size
    var right = to + size + 1
    var greatest = Int.MinValue
    while (left < right) {
      if ((left & 1) == 1) {
        greatest = math.max(greatest, tree(left))
        left += 1
      }
      if ((right & 1) == 1) {
        right -= 1
        greatest = math.max(greatest, tree(right))
      }
      left >>= 1
      right >>= 1
    }
    greatest
  }
}
