package io.zcube.curve

/** [[HilbertWalk]] in 2 dimensions, with 5 levels per step after a first step of up to 6. */
final private[curve] class HilbertWalk2(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 2 && machine.levelsPerStep == 5 && machine.stateWidth == 11)

  private val opening = new HilbertFirstStep(machine, bits, maxLevels = 6)
  private val first = opening.entries
  private val restSteps = opening.restSteps

  override def index(point: Array[Int]): Long = {
    val x = point(0)
    val y = point(1)
    // Up to 16 bits, which covers nearly all grids in use, there is no loop: a loop with so few
    // iterations is slower.
    restSteps match {
      case 0 => (opened(x, y) >>> 11).toLong
      case 1 =>
        val a = opened(x >>> 5, y >>> 5)
        val b = table((a & 2047) ^ chunk(x, y))
        ((a >>> 11).toLong << 10) | (b & 1023)
      case 2 =>
        val a = opened(x >>> 10, y >>> 10)
        val b = table((a & 2047) ^ chunk(x >>> 5, y >>> 5))
        val c = table(next(b, a) ^ chunk(x, y))
        ((a >>> 11).toLong << 20) | ((b & 1023) << 10) | (c & 1023)
      case _ => byLoop(x, y)
    }
  }

  private def byLoop(x: Int, y: Int): Long = {
    var shift = restSteps * 5
    val a = opened(x >>> shift, y >>> shift)
    var result = (a >>> 11).toLong
    var state = a & 2047
    while (shift > 0) {
      shift -= 5
      val entry = table(state ^ chunk(x >>> shift, y >>> shift))
      result = (result << 10) | (entry & 1023)
      state = next(entry, state)
    }
    result
  }

  private def opened(x: Int, y: Int): Int = first(((x & 63) << 6) | (y & 63))

  private def chunk(x: Int, y: Int): Int = ((x & 31) << 5) | (y & 31)

  private def next(entry: Int, state: Int): Int = (entry >>> 10) ^ (state & 1023)
}
