package io.zcube.memory

import java.nio.ByteOrder

import sun.misc.Unsafe

/** Reads and writes bytes in arrays of any primitive type, or in memory outside the heap.
  *
  * An address is a base object and an offset, `null` and an absolute address outside the heap, just
  * as Spark's strings keep theirs. Nothing here checks bounds: callers must pass only memory that
  * they own.
  */
private[zcube] object UnsafeBytes {

  private val unsafe: Unsafe = {
    val field = classOf[Unsafe].getDeclaredField("theUnsafe")
    field.setAccessible(true)
    field.get(null).asInstanceOf[Unsafe]
  }

  private val swap: Boolean = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN

  /** The offset of the first element of a `byte[]`. */
  val arrayOffset: Long = unsafe.arrayBaseOffset(classOf[Array[Byte]]).toLong

  def byteAt(base: AnyRef, offset: Long): Byte = unsafe.getByte(base, offset)

  /** Eight bytes, the first one most significant. */
  def longAt(base: AnyRef, offset: Long): Long = {
    val bits = unsafe.getLong(base, offset)
    if (swap) java.lang.Long.reverseBytes(bits) else bits
  }

  /** Writes eight bytes from element `index` on, the most significant one first. */
  def putLong(bytes: Array[Byte], index: Int, value: Long): Unit =
    unsafe.putLong(
      bytes,
      arrayOffset + index,
      if (swap) java.lang.Long.reverseBytes(value) else value)

  /** Writes four bytes from element `index` on, the most significant one first. */
  def putInt(bytes: Array[Byte], index: Int, value: Int): Unit =
    unsafe.putInt(
      bytes,
      arrayOffset + index,
      if (swap) java.lang.Integer.reverseBytes(value) else value)

  /** The first eight of `length` bytes, zeros after the last, as a key in unsigned byte order.
    *
    * The sign bit is flipped, so that signed comparison of keys is unsigned comparison of bytes.
    */
  def prefixKey(base: AnyRef, offset: Long, length: Int): Long = {
    val bits =
      if (length >= 8) longAt(base, offset)
      else {
        var packed = 0L
        var i = 0
        while (i < length) {
          packed |= (byteAt(base, offset + i) & 0xffL) << (56 - 8 * i)
          i += 1
        }
        packed
      }
    bits ^ Long.MinValue
  }

  /** Unsigned lexicographic order, a proper prefix first: negative, 0 or positive. */
  def compare(
      leftBase: AnyRef,
      leftOffset: Long,
      leftLength: Int,
      rightBase: AnyRef,
      rightOffset: Long,
      rightLength: Int): Int = {
    val common = math.min(leftLength, rightLength)
    var i = 0
    var order = 0
    while (order == 0 && i + 8 <= common) {
      order = java.lang.Long
        .compareUnsigned(longAt(leftBase, leftOffset + i), longAt(rightBase, rightOffset + i))
      i += 8
    }
    while (order == 0 && i < common) {
      order =
        (byteAt(leftBase, leftOffset + i) & 0xff) - (byteAt(rightBase, rightOffset + i) & 0xff)
      i += 1
    }
    if (order != 0) order else Integer.compare(leftLength, rightLength)
  }
}
