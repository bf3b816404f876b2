package io.zcube.curve

/** Tables that spread the bits of a byte: bit `i` goes to bit `i * stride`, with zeros between.
  * {{{
  *            abcdefgh
  * stride 2 → 0a0b0c0d0e0f0g0h
  * stride 3 → 00a00b00c00d00e00f00g00h
  * }}}
  * Shifted and OR-ed together, `stride` spread bytes make one interleaved word: one look-up a byte in place of eight
  * rounds of mask and shift.
  */
private[curve] object BitSpread {

  /** Above 8 a spread byte no longer fits a `Long`. */
  val MaxStride: Int = 8

  // 8 tables of 2 KiB each.
  private val tables: Array[Array[Long]] = Array.tabulate(MaxStride + 1) { stride =>
    if (stride == 0) Array.empty[Long] else Array.tabulate(256)(spread(_, stride))
  }

  /** The table of 256 spread bytes for a stride of 1 to [[MaxStride]]. */
  def table(stride: Int): Array[Long] = tables(stride)

  private def spread(byte: Int, stride: Int): Long =
    (0 until 8).foldLeft(0L)((word, bit) => word | (((byte >> bit) & 1L) << (bit * stride)))
}
