package io.zcube.curve

import io.zcube.memory.UnsafeBytes

/** A [[HilbertStateMachine]] set up for coordinates of `bits` bits, with everything that a row
  * needs in fields.
  *
  * Expects points on the grid; the curves check that.
  */
private[curve] class HilbertWalk(machine: HilbertStateMachine, bits: Int) {
  private val dimensions = machine.dimensions
  private val levels = machine.levelsPerStep
  private val levelMask = (1 << levels) - 1
  private val width = machine.width
  private val widthMask = (1 << width) - 1
  final protected val table = machine.table
  final protected val start = machine.start(bits)
  final protected val firstShift = (machine.steps(bits) - 1) * levels

  /** The low 64 bits of the index. */
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
  def index(point: Array[Int], result: Array[Byte]): Unit =
    // The Long walk is faster, and it can use all 64 bits because the sign doesn't matter here.
    if (result.length == java.lang.Long.BYTES) UnsafeBytes.putLong(result, 0, index(point))
    else if (result.length < java.lang.Long.BYTES) write(index(point), result)
    else writeSteps(point, result)

  private def write(index: Long, result: Array[Byte]): Unit = {
    var rest = index
    var position = result.length - 1
    while (position >= 0) {
      result(position) = rest.toByte
      rest >>>= 8
      position -= 1
    }
  }

  private def writeSteps(point: Array[Int], result: Array[Byte]): Unit = {
    var state = start
    var shift = firstShift
    var pending = 0L
    // Bits in `pending`. The index is padded with zeros, in its first byte or before the first
    // step's digits.
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

  private def chunk(point: Array[Int], shift: Int): Int = {
    var result = 0
    var axis = 0
    while (axis < dimensions) {
      result = (result << levels) | ((point(axis) >>> shift) & levelMask)
      axis += 1
    }
    result
  }
}

private[curve] object HilbertWalk {

  /** The walk for 1 to [[HilbertStateMachine.MaxDimensions]] dimensions. */
  def apply(dimensions: Int, bits: Int): HilbertWalk = {
    val machine = HilbertStateMachine.of(dimensions)
    dimensions match {
      // Special cases for common numbers of columns use constants instead of fields, and no loops
      // for common numbers of bits.
      case 2 => new HilbertWalk2(machine, bits)
      case 3 => new HilbertWalk3(machine, bits)
      case 4 => new HilbertWalk4(machine, bits)
      case _ => new HilbertWalk(machine, bits)
    }
  }
}
