package io.zcube.curve

/** [[HilbertWalk]] in 3 dimensions, 3 levels a step after a first one of up to 4. */
final private[curve] class HilbertWalk3(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 3 && machine.levelsPerStep == 3)

  private val opening = new HilbertOpening(machine, bits, mostLevels = 4)
  private val first = opening.entries
  private val firstLevels = opening.levels
  private val firstMask = (1 << firstLevels) - 1
  private val restSteps = opening.restSteps
  private val restBits = opening.restBits

  override def index(point: Array[Int]): Long = {
    val x = point(0)
    val y = point(1)
    val z = point(2)
    val a = first(
      (((x >>> restBits) & firstMask) << (2 * firstLevels)) |
        (((y >>> restBits) & firstMask) << firstLevels) |
        ((z >>> restBits) & firstMask))
    val digits = a & ((1 << (3 * firstLevels)) - 1)
    val state = a >>> (3 * firstLevels)
    // Up to 10 bits without a loop: one of so few turns takes longer than they do.
    restSteps match {
      case 0 => digits.toLong
      case 1 =>
        val b = table(state ^ chunk(x, y, z, 0))
        (digits.toLong << 9) | (b & 511)
      case 2 =>
        val b = table(state ^ chunk(x, y, z, 3))
        val c = table(next(b, state) ^ chunk(x, y, z, 0))
        (digits.toLong << 18) | ((b & 511) << 9) | (c & 511)
      case _ => rest(x, y, z, state, digits)
    }
  }

  private def rest(x: Int, y: Int, z: Int, start: Int, digits: Int): Long = {
    var result = digits.toLong
    var state = start
    var shift = restBits - 3
    while (shift >= 0) {
      val entry = table(state ^ chunk(x, y, z, shift))
      result = (result << 9) | (entry & 511)
      state = next(entry, state)
      shift -= 3
    }
    result
  }

  private def chunk(x: Int, y: Int, z: Int, shift: Int): Int =
    (((x >>> shift) & 7) << 6) | (((y >>> shift) & 7) << 3) | ((z >>> shift) & 7)

  private def next(entry: Int, state: Int): Int = (entry >>> 9) ^ (state & 511)
}
