package io.zcube.curve

import io.zcube.memory.UnsafeBytes

/** [[HilbertWalk]] in 4 dimensions, with 2 levels per step, for coordinates of up to 16 bits, the
  * most that a `Long` index holds. The four coordinates are packed into chunks before the walk, one
  * byte for each step.
  */
final private[curve] class HilbertWalk4(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 4 && machine.levelsPerStep == 2)

  override def index(point: Array[Int]): Long = {
    val chunks = packed(point)
    // With a constant number of iterations the loop is unrolled, which saves a fifth of the time.
    if (firstShift == 14) walk(chunks, 56) else walk(chunks, firstShift * 4)
  }

  // A step's chunk is a byte, and so are its digits, so the digits replace the chunk.
  override def index(point: Array[Int], result: Array[Byte]): Unit =
    if (result.length != 8) super.index(point, result)
    else {
      UnsafeBytes.putLong(result, 0, packed(point))
      var state = start
      var i = 0
      while (i < 8) {
        val entry = table(state ^ (result(i) & 0xff))
        result(i) = entry.toByte
        state = (entry >>> 8) ^ (state & 0xff)
        i += 1
      }
    }

  private def packed(point: Array[Int]): Long =
    (spread(point(0)) << 6) | (spread(point(1)) << 4) | (spread(point(2)) << 2) | spread(point(3))

  private def walk(chunks: Long, from: Int): Long = {
    var result = 0L
    var state = start
    var shift = from
    while (shift >= 0) {
      val entry = table(state ^ ((chunks >>> shift).toInt & 0xff))
      result = (result << 8) | (entry & 0xff)
      state = (entry >>> 8) ^ (state & 0xff)
      shift -= 8
    }
    result
  }

  /** `ababab…` to `ab000000ab000000…`, by halves, quarters and eighths. */
  private def spread(coordinate: Int): Long = {
    val halves = (coordinate.toLong | (coordinate.toLong << 24)) & 0x000000ff000000ffL
    val quarters = (halves | (halves << 12)) & 0x000f000f000f000fL
    (quarters | (quarters << 6)) & 0x0303030303030303L
  }
}
