package io.zcube.curve

/** Spreads the bits of a number evenly, with zeros between them.
  *
  * {{{
  *   by2(1011) = 01 00 01 01        by3(1011) = 001 000 001 001
  * }}}
  *
  * Each step halves the runs of adjacent bits: it ORs the word with a shifted copy, and a mask
  * keeps the lower half of each run from the original and the upper half from the copy.
  *
  * Source: H. S. Warren, "Hacker's Delight", 2nd ed., section 7-2.
  */
private[curve] object BitSpread {

  /** Bit i of the 32 to bit 2i. */
  def by2(value: Int): Long = {
    var v = value & 0xffffffffL
    v = (v | (v << 16)) & 0x0000ffff0000ffffL
    v = (v | (v << 8)) & 0x00ff00ff00ff00ffL
    v = (v | (v << 4)) & 0x0f0f0f0f0f0f0f0fL
    v = (v | (v << 2)) & 0x3333333333333333L
    (v | (v << 1)) & 0x5555555555555555L
  }

  /** Bit i of the lower 16 to bit 3i; the upper 16 must be zeros. */
  def by3(value: Int): Long = {
    var v = value.toLong
    v = (v | (v << 16)) & 0x0000_0000_ff00_00ffL
    v = (v | (v << 8)) & 0x0000_00f0_0f00_f00fL
    v = (v | (v << 4)) & 0x0000_0c30_c30c_30c3L
    (v | (v << 2)) & 0x0000_2492_4924_9249L
  }
}
