package io.zcube.curve

/** [[HilbertWalk]] in 2 dimensions, 5 levels a step. */
final private[curve] class HilbertWalk2(machine: HilbertStateMachine, bits: Int)
    extends HilbertWalk(machine, bits) {
  require(machine.dimensions == 2 && machine.levelsPerStep == 5)

  override def index(point: Array[Int]): Long = {
    val x = point(0)
    val y = point(1)
    var result = 0L
    var state = start
    var shift = firstShift
    while (shift >= 0) {
      val chunk = (((x >>> shift) & 31) << 5) |
        ((y >>> shift) & 31)
      val entry = table(state ^ chunk)
      result = (result << 10) | (entry & 1023)
      state = (entry >>> 10) ^ (state & 1023)
      shift -= 5
    }
    result
  }
}
