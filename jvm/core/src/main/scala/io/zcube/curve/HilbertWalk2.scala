package io.zcube.curve

/** [[HilbertWalk]] in 2 dimensions, 5 levels a step after a first one of up to 6. */
final private[curve] class HilbertWalk2(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 2 && machine.levelsPerStep == 5)

  private val opening = new HilbertOpening(machine, bits, mostLevels = 6)
  private val first = opening.entries
  private val firstLevels = opening.levels
  private val firstMask = (1 << firstLevels) - 1
  private val restSteps = opening.restSteps
  private val restBits = opening.restBits

  override def index(point: Array[Int]): Long = {
    val x = point(0)
    val y = point(1)
    val a = first((((x >>> restBits) & firstMask) << firstLevels) | ((y >>> restBits) & firstMask))
    val digits = a & ((1 << (2 * firstLevels)) - 1)
    val state = a >>> (2 * firstLevels)
    // Up to 16 bits, which are nearly all grids in use, without a loop: one of so few turns takes longer than they do.
    restSteps match {
      case 0 => digits.toLong
      case 1 =>
        val b = table(state ^ chunk(x, y, 0))
        (digits.toLong << 10) | (b & 1023)
      case 2 =>
        val b = table(state ^ chunk(x, y, 5))
        val c = table(next(b, state) ^ chunk(x, y, 0))
        (digits.toLong << 20) | ((b & 1023) << 10) | (c & 1023)
      case _ => rest(x, y, state, digits)
    }
  }

  private def rest(x: Int, y: Int, start: Int, digits: Int): Long = {
    var result = digits.toLong
    var state = start
    var shift = restBits - 5
    while (shift >= 0) {
      val entry = table(state ^ chunk(x, y, shift))
      result = (result << 10) | (entry & 1023)
      state = next(entry, state)
      shift -= 5
    }
    result
  }

  private def chunk(x: Int, y: Int, shift: Int): Int =
    (((x >>> shift) & 31) << 5) | ((y >>> shift) & 31)

  private def next(entry: Int, state: Int): Int = (entry >>> 10) ^ (state & 1023)
}
