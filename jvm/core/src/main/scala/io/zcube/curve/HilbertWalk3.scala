package io.zcube.curve

/** [[HilbertWalk]] in 3 dimensions, 3 levels a step. */
final private[curve] class HilbertWalk3(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 3 && machine.levelsPerStep == 3)

  override def index(point: Array[Int]): Long = {
    val x = point(0)
    val y = point(1)
    val z = point(2)
    var result = 0L
    var state = start
    var shift = firstShift
    while (shift >= 0) {
      val chunk = (((x >>> shift) & 7) << 6) |
        (((y >>> shift) & 7) << 3) |
        ((z >>> shift) & 7)
      val entry = table(state ^ chunk)
      result = (result << 9) | (entry & 511)
      state = (entry >>> 9) ^ (state & 511)
      shift -= 3
    }
    result
  }
}
