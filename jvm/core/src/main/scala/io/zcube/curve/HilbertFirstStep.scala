package io.zcube.curve

/** The first step of a walk, with a separate table.
  *
  * A walk always begins in the same state, so the table of its first step covers only one state and
  * can read more levels than the others. It takes the levels that remain after whole steps, so that
  * no step reads padding: 10 bits in 3 dimensions are 4 + 3 + 3 levels rather than 1 + 3 + 3 + 3.
  *
  * {{{
  * chunk  maxLevels bits of each axis, the first axis leftmost, zeros above those that the step takes
  * entry  digits of the index << (width of a state) | state
  * }}}
  *
  * Neither layout depends on the number of remaining levels: the walks shift by constants.
  *
  * @param bits       bits of each coordinate
  * @param maxLevels levels that a first step may read, more than the machine's own steps do
  */
final private[curve] class HilbertFirstStep(
    machine: HilbertStateMachine,
    bits: Int,
    maxLevels: Int) {
  require(maxLevels > machine.levelsPerStep)

  /** Steps of the machine that follow. */
  val restSteps: Int = if (bits <= maxLevels) 0 else machine.steps(bits - maxLevels)

  private val levels = bits - restSteps * machine.levelsPerStep

  val entries: Array[Int] =
    Array.tabulate(1 << (machine.dimensions * maxLevels)) { chunk =>
      val point = Array.tabulate(machine.dimensions) { axis =>
        (chunk >>> ((machine.dimensions - 1 - axis) * maxLevels)) & ((1 << maxLevels) - 1)
      }
      if (point.exists(_ >>> levels != 0)) 0 else entry(point)
    }

  private def entry(point: Array[Int]): Int = {
    val width = machine.width
    val low = (1 << width) - 1
    val perStep = machine.levelsPerStep
    var state = machine.start(levels)
    var digits = 0
    var shift = (machine.steps(levels) - 1) * perStep
    while (shift >= 0) {
      val chunk = point.foldLeft(0) { (chunk, coordinate) =>
        (chunk << perStep) | ((coordinate >>> shift) & ((1 << perStep) - 1))
      }
      val entry = machine.table(state ^ chunk)
      digits = (digits << width) | (entry & low)
      state = (entry >>> width) ^ (state & low)
      shift -= perStep
    }
    (digits << machine.stateWidth) | state
  }
}
