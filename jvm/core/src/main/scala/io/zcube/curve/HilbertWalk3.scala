package io.zcube.curve

/** [[HilbertWalk]] in 3 dimensions, with 3 levels per step after a first step of up to 4. */
final private[curve] class HilbertWalk3(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 3 && machine.levelsPerStep == 3 && machine.stateWidth == 12)

  private val opening = new HilbertFirstStep(machine, bits, maxLevels = 4)
  private val first = opening.entries
  private val restSteps = opening.restSteps

  override def index(point: Array[Int]): Long = {
    val x = point(0)
    val y = point(1)
    val z = point(2)
    // Up to 10 bits there is no loop: a loop with so few iterations is slower.
    restSteps match {
      case 0 => (opened(x, y, z) >>> 12).toLong
      case 1 =>
        val a = opened(x >>> 3, y >>> 3, z >>> 3)
        val b = table((a & 4095) ^ chunk(x, y, z))
        ((a >>> 12).toLong << 9) | (b & 511)
      case 2 =>
        // The same as opened(x >>> 6, …) and chunk(x >>> 3, …), with half the shifts.
        val a = first(((x << 2) & 0xf00) | ((y >>> 2) & 0xf0) | ((z >>> 6) & 0xf))
        val b = table((a & 4095) ^ (((x << 3) & 0x1c0) | (y & 0x38) | ((z >>> 3) & 7)))
        val c = table(next(b, a) ^ chunk(x, y, z))
        (((a >>> 12) << 18) | ((b & 511) << 9) | (c & 511)).toLong
      case _ => byLoop(x, y, z)
    }
  }

  private def byLoop(x: Int, y: Int, z: Int): Long = {
    var shift = restSteps * 3
    val a = opened(x >>> shift, y >>> shift, z >>> shift)
    var result = (a >>> 12).toLong
    var state = a & 4095
    while (shift > 0) {
      shift -= 3
      val entry = table(state ^ chunk(x >>> shift, y >>> shift, z >>> shift))
      result = (result << 9) | (entry & 511)
      state = next(entry, state)
    }
    result
  }

  private def opened(x: Int, y: Int, z: Int): Int =
    first(((x & 15) << 8) | ((y & 15) << 4) | (z & 15))

  private def chunk(x: Int, y: Int, z: Int): Int = ((x << 6) & 0x1c0) | ((y << 3) & 0x38) | (z & 7)

  private def next(entry: Int, state: Int): Int = (entry >>> 9) ^ (state & 511)
}
