package io.zcube.range

import java.util.{Arrays, Objects}

/** Range bounds over 64-bit keys: the id of a value is the number of bounds strictly below it.
  *
  * A bound is the inclusive upper end of its range, so `n` bounds give the ids 0 to n. With the
  * bounds (1, 15) the values 0 and 1 have id 0, 2 to 15 have id 1, and 16 has id 2. This handles
  * every type that [[OrderPreservingBits]] or a plain widening maps to a `long` without changing
  * its order. A look-up allocates nothing.
  *
  * @throws java.lang.IllegalArgumentException if the bounds are not strictly ascending
  */
final class LongRangeBounds private (private val bounds: Array[Long]) extends Serializable {

  /** The number of bounds, which is also the largest id. */
  def length: Int = bounds.length

  /** The id of `value`, 0 to [[length]], in about log2([[length]]) steps.
    *
    * The loop has one data dependence and no early exit: the JIT turns the choice into a
    * conditional move, which is faster than branching for unordered values.
    */
  def idOf(value: Long): Int = {
    var first = 0
    var size = bounds.length
    while (size > 1) {
      val half = size >>> 1
      first += (if (bounds(first + half - 1) < value) half else 0)
      size -= half
    }
    if (size == 1 && bounds(first) < value) first + 1 else first
  }

  override def equals(other: Any): Boolean = other match {
    case that: LongRangeBounds => Arrays.equals(bounds, that.bounds)
    case _ => false
  }

  override def hashCode: Int = Objects.hash("LongRangeBounds", Int.box(Arrays.hashCode(bounds)))

  // Doesn't print the bounds: there can be a million, and plans print this.
  override def toString: String = s"LongRangeBounds($length bounds)"
}

object LongRangeBounds {

  def apply(bounds: Array[Long]): LongRangeBounds = {
    var i = 1
    while (i < bounds.length) {
      require(
        bounds(i - 1) < bounds(i),
        s"bounds must ascend strictly, but bound ${i - 1} is ${bounds(i - 1)} and bound $i is ${bounds(i)}")
      i += 1
    }
    new LongRangeBounds(bounds.clone())
  }
}
