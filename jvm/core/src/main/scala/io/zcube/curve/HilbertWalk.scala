package io.zcube.curve

/** A [[HilbertStateMachine]] set up for coordinates of `bits` bits: all that a row needs is in fields.
  *
  * Expects points on the grid; the curves check that.
  */
private[curve] final class HilbertWalk(machine: HilbertStateMachine, bits: Int) {
  private val dimensions = machine.dimensions
  private val levels = machine.levelsPerStep
  private val levelMask = (1 << levels) - 1
  private val width = machine.width
  private val widthMask = (1 << width) - 1
  private val table = machine.table
  private val start = machine.start(bits)
  private val firstShift = (machine.steps(bits) - 1) * levels

  /** The index, of which the low 64 bits are kept. */
  def index(point: Array[Int]): Long = {
    var result = 0L
    var state = start
    var shift = firstShift
    while (shift >= 0) {
      val entry = table(state ^ chunk(point, shift))
      result = (result << width) | (entry & widthMask)
      state = (entry >>> width) ^ (state & widthMask)
      shift -= levels
    }
    result
  }

  /** The index as a big-endian number that fills `result` from its end. */
  def index(point: Array[Int], result: Array[Byte]): Unit = {
    var state = start
    var shift = firstShift
    var pending = 0L
    // Bits in `pending`. Zeros stand above the index, in its first byte or else in front of the first step's digits.
    var pendingBits = result.length * 8 - (firstShift / levels + 1) * width
    var position = 0
    while (shift >= 0) {
      val entry = table(state ^ chunk(point, shift))
      pending = (pending << width) | (entry & widthMask)
      pendingBits += width
      while (pendingBits >= 8) {
        pendingBits -= 8
        result(position) = (pending >>> pendingBits).toByte
        position += 1
      }
      state = (entry >>> width) ^ (state & widthMask)
      shift -= levels
    }
  }

  // Unrolled for the usual numbers of columns: with the loop, reading the point takes longer than the look-ups.
  private def chunk(point: Array[Int], shift: Int): Int = dimensions match {
    case 2 => (level(point(0), shift) << levels) | level(point(1), shift)
    case 3 =>
      (((level(point(0), shift) << levels) | level(point(1), shift)) << levels) |
        level(point(2), shift)
    case 4 =>
      (((level(point(0), shift) << levels) | level(point(1), shift)) << (2 * levels)) |
        (level(point(2), shift) << levels) | level(point(3), shift)
    case _ =>
      var result = 0
      var axis = 0
      while (axis < dimensions) {
        result = (result << levels) | level(point(axis), shift)
        axis += 1
      }
      result
  }

  private def level(coordinate: Int, shift: Int): Int = (coordinate >>> shift) & levelMask
}

private[curve] object HilbertWalk {
  def apply(dimensions: Int, bits: Int): HilbertWalk =
    new HilbertWalk(HilbertStateMachine.of(dimensions), bits)
}
