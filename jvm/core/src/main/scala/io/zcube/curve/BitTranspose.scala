package io.zcube.curve

/** Transposes bit matrices that fill a word, row by row, with the first bit most significant.
  *
  * A bit's position in the word is a 6-bit number, the row's number followed by the column's.
  * Transposing permutes those 6 bits, and each exchange of two of them is one masked exchange of
  * bits at a distance.
  *
  * Source: H. S. Warren, "Hacker's Delight", 2nd ed., sections 7-2 and 7-3.
  */
private[curve] object BitTranspose {

  /** 8 rows of 8 columns. */
  def of8x8(matrix: Long): Long = {
    val bits = exchanged(matrix, 7, 0x00aa00aa00aa00aaL)
    val pairs = exchanged(bits, 14, 0x0000cccc0000ccccL)
    exchanged(pairs, 28, 0x00000000f0f0f0f0L)
  }

  /** 4 rows of 16 columns, to 16 rows of 4 columns. */
  def of4x16(matrix: Long): Long = {
    // Row and column of the place: r1 r0 c3 c2 c1 c0.
    val a = exchanged(matrix, 30, 0x00000000ccccccccL) // c1 r0 c3 c2 r1 c0
    val b = exchanged(a, 15, 0x0000aaaa0000aaaaL) // c1 c0 c3 c2 r1 r0
    val c = exchanged(b, 24, 0x00000000ff00ff00L) // c3 c0 c1 c2 r1 r0
    exchanged(c, 12, 0x0000f0f00000f0f0L) // c3 c2 c1 c0 r1 r0
  }

  /** The lowest n bits of each byte, n from 4 to 8, side by side in the lowest 8 × n bits. */
  def packed(bytes: Long, n: Int): Long = {
    val gap = 8 - n
    val twos = (bytes & 0x00ff00ff00ff00ffL) | ((bytes & 0xff00ff00ff00ff00L) >>> gap)
    val fours = (twos & 0x0000ffff0000ffffL) | ((twos & 0xffff0000ffff0000L) >>> (2 * gap))
    (fours & 0x00000000ffffffffL) | ((fours & 0xffffffff00000000L) >>> (4 * gap))
  }

  /** Exchanges the bits under the mask with those `distance` above them. */
  private def exchanged(word: Long, distance: Int, mask: Long): Long = {
    val differing = (word ^ (word >>> distance)) & mask
    word ^ differing ^ (differing << distance)
  }
}
