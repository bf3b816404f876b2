package io.zcube.range

import java.util.Arrays

import io.zcube.memory.UnsafeBytes

/** Range bounds over byte strings in unsigned lexicographic order, a proper prefix first.
  *
  * The id of a value is the number of bounds strictly below it, as in [[LongRangeBounds]]. That is
  * the order of UTF-8 text by code point and of SQL's BINARY.
  *
  * Strings often have a common prefix (`https://www.…`), so the prefix that all bounds share is
  * compared once. The eight bytes after it form a `long` key; keys are searched first, and whole
  * bounds are compared only among those with the value's key. A look-up allocates nothing.
  *
  * @throws java.lang.IllegalArgumentException if the bounds are not strictly ascending
  */
final class BytesRangeBounds private (private val bounds: Array[Array[Byte]])
    extends Serializable {
  import UnsafeBytes.arrayOffset

  /** The length of the prefix that all bounds share. */
  private val shared: Int =
    if (bounds.isEmpty) 0
    else {
      // The bounds are ascending, so all of them share what the first and the last share.
      val differing = Arrays.mismatch(bounds.head, bounds.last)
      if (differing < 0) bounds.head.length else differing
    }

  private val keys: Array[Long] = bounds.map { bound =>
    UnsafeBytes.prefixKey(bound, arrayOffset + shared, bound.length - shared)
  }

  /** The number of bounds, which is also the largest id. */
  def length: Int = bounds.length

  /** The id of the whole array, 0 to [[length]]. */
  def idOf(value: Array[Byte]): Int = idOf(value, arrayOffset, value.length)

  /** The id of `length` bytes from `offset` on, relative to `base` as `sun.misc.Unsafe` counts.
    *
    * @param base   the array of any primitive type that holds the bytes; null outside the heap
    * @param offset as Unsafe counts: a `byte[]` begins at its array base offset, not at 0
    * @param length how many bytes may be read
    */
  def idOf(base: AnyRef, offset: Long, length: Int): Int =
    if (bounds.length == 0) 0
    else {
      val toShared = UnsafeBytes
        .compare(base, offset, math.min(length, shared), bounds(0), arrayOffset, shared)
      if (toShared < 0) 0
      else if (toShared > 0) bounds.length
      else idBehindShared(base, offset + shared, length - shared)
    }

  private def idBehindShared(base: AnyRef, offset: Long, length: Int): Int = {
    val key = UnsafeBytes.prefixKey(base, offset, length)
    var first = 0
    var size = keys.length
    while (size > 1) {
      val half = size >>> 1
      first += (if (keys(first + half - 1) < key) half else 0)
      size -= half
    }
    if (keys(first) < key) first += 1
    if (first == keys.length || keys(first) != key) first
    else idAmongEqualKeys(base, offset, length, key, first)
  }

  /** Compares the complete bounds from `first` on that have the value's key. */
  private def idAmongEqualKeys(
      base: AnyRef,
      offset: Long,
      length: Int,
      key: Long,
      first: Int): Int = {
    var low = first
    var high = keys.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (keys(middle) == key && isBelow(bounds(middle), base, offset, length)) low = middle + 1
      else high = middle
    }
    low
  }

  private def isBelow(bound: Array[Byte], base: AnyRef, offset: Long, length: Int): Boolean =
    UnsafeBytes
      .compare(bound, arrayOffset + shared, bound.length - shared, base, offset, length) < 0

  override def equals(other: Any): Boolean = other match {
    case that: BytesRangeBounds =>
      Arrays.deepEquals(bounds.asInstanceOf[Array[AnyRef]], that.bounds.asInstanceOf[Array[AnyRef]])
    case _ => false
  }

  override def hashCode: Int = Arrays.deepHashCode(bounds.asInstanceOf[Array[AnyRef]])

  // Doesn't print the bounds: there can be a million, and plans print this.
  override def toString: String = s"BytesRangeBounds($length bounds)"
}

object BytesRangeBounds {

  def apply(bounds: Array[Array[Byte]]): BytesRangeBounds = {
    var i = 1
    while (i < bounds.length) {
      require(
        Arrays.compareUnsigned(bounds(i - 1), bounds(i)) < 0,
        s"bounds must ascend strictly, but bound $i is not above bound ${i - 1}")
      i += 1
    }
    new BytesRangeBounds(bounds.map(_.clone()))
  }
}
