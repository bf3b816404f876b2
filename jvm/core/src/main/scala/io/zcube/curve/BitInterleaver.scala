package io.zcube.curve

import io.zcube.memory.UnsafeBytes

/** Interleaves the bits of INTs into bytes whose unsigned order is Z-order.
  *
  * {{{
  *   values a, b  →  a31 b31 a30 b30 … a0 b0   (8 bytes, big-endian)
  * }}}
  *
  * Up to eight values are interleaved in registers, all bits of a word with each instruction, and
  * written a word at a time ([[BitSpread]] for two and three values, [[BitTranspose]] from four
  * on). There is no table and no loop over bits, and only the result is allocated.
  */
object BitInterleaver {

  /** The values' interleaved bits, four bytes for each value; the first value's bit comes first. */
  def interleave(values: Array[Int]): Array[Byte] = values.length match {
    case 1 => one(values)
    case 2 => two(values)
    case 3 => three(values)
    case 4 => four(values)
    case 5 | 6 | 7 | 8 => fiveToEight(values)
    case _ => BitByBit.toBytes(values, Integer.SIZE)
  }

  // Each case allocates its own array: an array of constant length is faster to allocate.

  private def one(v: Array[Int]): Array[Byte] = {
    val result = new Array[Byte](4)
    UnsafeBytes.putInt(result, 0, v(0))
    result
  }

  private def two(v: Array[Int]): Array[Byte] = {
    val result = new Array[Byte](8)
    UnsafeBytes.putLong(result, 0, (BitSpread.by2(v(0)) << 1) | BitSpread.by2(v(1)))
    result
  }

  private def three(v: Array[Int]): Array[Byte] = {
    val result = new Array[Byte](12)
    // 48 bits each.
    val upper = (BitSpread.by3(v(0) >>> 16) << 2) | (BitSpread.by3(v(1) >>> 16) << 1) |
      BitSpread.by3(v(2) >>> 16)
    val lower = (BitSpread.by3(v(0) & 0xffff) << 2) | (BitSpread.by3(v(1) & 0xffff) << 1) |
      BitSpread.by3(v(2) & 0xffff)
    UnsafeBytes.putLong(result, 0, (upper << 16) | (lower >>> 32))
    UnsafeBytes.putInt(result, 8, lower.toInt)
    result
  }

  private def four(v: Array[Int]): Array[Byte] = {
    val result = new Array[Byte](16)
    val a = pair(v(0), v(2))
    val b = pair(v(1), v(3))
    // Now one word has the upper halves of all values, the other the lower halves.
    val moved = (a ^ (b >>> 16)) & 0x0000ffff0000ffffL
    UnsafeBytes.putLong(result, 0, BitTranspose.of4x16(a ^ moved))
    UnsafeBytes.putLong(result, 8, BitTranspose.of4x16(b ^ (moved << 16)))
    result
  }

  /** Five to eight values, padded with leading zeros to eight; the bits of the zeros are removed
    * again.
    */
  private def fiveToEight(v: Array[Int]): Array[Byte] = {
    val n = v.length
    var a = pair(if (n > 7) v(n - 8) else 0, v(n - 4))
    var b = pair(if (n > 6) v(n - 7) else 0, v(n - 3))
    var c = pair(if (n > 5) v(n - 6) else 0, v(n - 2))
    var d = pair(v(n - 5), v(n - 1))
    // Swaps halves, then bytes, until `a` holds the first byte of all values, `b` the second and so
    // on.
    val ac = (a ^ (c >>> 16)) & 0x0000ffff0000ffffL
    val bd = (b ^ (d >>> 16)) & 0x0000ffff0000ffffL
    a ^= ac
    c ^= ac << 16
    b ^= bd
    d ^= bd << 16
    val ab = (a ^ (b >>> 8)) & 0x00ff00ff00ff00ffL
    val cd = (c ^ (d >>> 8)) & 0x00ff00ff00ff00ffL
    a = BitTranspose.of8x8(a ^ ab)
    b = BitTranspose.of8x8(b ^ (ab << 8))
    c = BitTranspose.of8x8(c ^ cd)
    d = BitTranspose.of8x8(d ^ (cd << 8))
    if (n == 8) written(a, b, c, d) else packed(a, b, c, d, n)
  }

  private def written(a: Long, b: Long, c: Long, d: Long): Array[Byte] = {
    val result = new Array[Byte](32)
    UnsafeBytes.putLong(result, 0, a)
    UnsafeBytes.putLong(result, 8, b)
    UnsafeBytes.putLong(result, 16, c)
    UnsafeBytes.putLong(result, 24, d)
    result
  }

  private def packed(a: Long, b: Long, c: Long, d: Long, n: Int): Array[Byte] = {
    val result = new Array[Byte](4 * n)
    val third = BitTranspose.packed(c, n)
    // Whole words, each overwriting the excess bytes of the previous one; the last one repeats some
    // of the third.
    val unused = 64 - 8 * n
    UnsafeBytes.putLong(result, 0, BitTranspose.packed(a, n) << unused)
    UnsafeBytes.putLong(result, n, BitTranspose.packed(b, n) << unused)
    UnsafeBytes.putLong(result, 2 * n, third << unused)
    UnsafeBytes.putLong(result, 4 * n - 8, (third << (8 * n)) | BitTranspose.packed(d, n))
    result
  }

  private def pair(upper: Int, lower: Int): Long = (upper.toLong << 32) | (lower & 0xffffffffL)
}
