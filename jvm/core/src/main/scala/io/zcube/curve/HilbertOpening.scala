package io.zcube.curve

/** The first step of a walk, with a table of its own.
  *
  * A walk always begins in the same state, so that the table of its first step is one state's part only and can read
  * more levels than the others. It takes the levels that whole steps leave over, so that no step reads padding: 10 bits
  * in 3 dimensions are 4 + 3 + 3 levels rather than 1 + 3 + 3 + 3.
  *
  * {{{
  * chunk  `levels` bits of each axis, the first axis leftmost
  * entry  state << (dimensions * levels) | digits of the index
  * }}}
  *
  * @param bits       bits of each coordinate
  * @param mostLevels levels that a first step may read, more than the machine's own steps do
  */
final private[curve] class HilbertOpening(machine: HilbertStateMachine, bits: Int, mostLevels: Int) {
  require(mostLevels > machine.levelsPerStep)

  /** Steps of the machine that follow. */
  val restSteps: Int = if (bits <= mostLevels) 0 else machine.steps(bits - mostLevels)

  /** Bits of a coordinate that they read, all but the first ones. */
  val restBits: Int = restSteps * machine.levelsPerStep

  val levels: Int = bits - restBits

  val entries: Array[Int] = {
    val width = machine.dimensions * levels
    Array.tabulate(1 << width)(chunk => entry(chunk, width))
  }

  private def entry(chunk: Int, width: Int): Int = {
    val perStep = machine.levelsPerStep
    val (state, digits) =
      ((machine.steps(levels) - 1) * perStep to 0 by -perStep).foldLeft((machine.start(levels), 0)) {
        case ((state, digits), shift) =>
          val part = (0 until machine.dimensions).foldLeft(0) { (part, axis) =>
            val coordinate = (chunk >>> (width - (axis + 1) * levels)) & ((1 << levels) - 1)
            (part << perStep) | ((coordinate >>> shift) & ((1 << perStep) - 1))
          }
          val entry = machine.table(state ^ part)
          val low = (1 << machine.width) - 1
          ((entry >>> machine.width) ^ (state & low), (digits << machine.width) | (entry & low))
      }
    (state << width) | digits
  }
}
