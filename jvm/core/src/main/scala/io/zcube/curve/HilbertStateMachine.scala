package io.zcube.curve

import scala.collection.mutable

/** Skilling's transform as a finite automaton that reads several bits of every coordinate per table look-up.
  *
  * The transform of the levels above is a signed permutation of the axes, and nothing else is
  * carried down. The flips can be factored out as an XOR on the input, so only the permutation, one
  * of `dimensions!`, has to select a part of the table: in 4 dimensions 24 x 256 entries for 2
  * levels at once, which stay in the first-level cache, instead of the 192 x 256 that signed
  * permutations would take.
  *
  * Layouts, with `w = dimensions * levelsPerStep`:
  * {{{
  * chunk  levelsPerStep bits of each axis, the first axis leftmost              (w bits)
  * state  permutation << w | flips, in the layout of a chunk
  * entry  permutation << 2w | flips to toggle << w | digits of the index
  * }}}
  * One step is `entry = table(state ^ chunk)`, after which the next state is `(entry >>> w) ^ (state & (2^w - 1))`.
  *
  * @param dimensions 1 to [[HilbertStateMachine.MaxDimensions]]
  * @param levelsPerStep levels, that is bits of each coordinate, read by one look-up
  */
final private[curve] class HilbertStateMachine private (
    val dimensions: Int,
    val levelsPerStep: Int) {
  import HilbertStateMachine.{Permutation, Transition}

  val width: Int = dimensions * levelsPerStep

  private val unpermuted: Permutation = Vector.range(0, dimensions)

  private val permutations = mutable.LinkedHashMap(unpermuted -> 0)

  val table: Array[Int] = {
    val queue = mutable.Queue(unpermuted)
    val entries = mutable.ArrayBuilder.make[Int]
    while (queue.nonEmpty) {
      val from = queue.dequeue()
      (0 until (1 << width)).foreach { chunk =>
        val (to, toggled, digits) = step(from, chunk)
        if (!permutations.contains(to)) {
          permutations(to) = permutations.size
          queue += to
        }
        entries += (permutations(to) << (2 * width)) | (replicate(toggled) << width) | digits
      }
    }
    entries.result()
  }

  /** Bits of a state. */
  val stateWidth: Int = width + 32 - Integer.numberOfLeadingZeros(permutations.size - 1)

  // Zero levels above the point only rotate the axes, so starting with the inverse rotation cancels
  // them.
  private val starts: Array[Int] = Array.tabulate(levelsPerStep) { padding =>
    val start = permutations.keys
      .find(p => (0 until padding).foldLeft(p)((q, _) => level(q, 0).to) == unpermuted)
      .get
    permutations(start) << width
  }

  /** Steps needed for coordinates of `bits` bits; the first step may read zeros above them. */
  def steps(bits: Int): Int = (bits + levelsPerStep - 1) / levelsPerStep

  /** The state to start in for coordinates of `bits` bits. */
  def start(bits: Int): Int = starts(steps(bits) * levelsPerStep - bits)

  /** Reads `levelsPerStep` levels: the next permutation, the flips to toggle (one bit per axis),
    * and the digits.
    */
  private def step(from: Permutation, chunk: Int): (Permutation, Int, Int) =
    (levelsPerStep - 1 to 0 by -1).foldLeft((from, 0, 0)) {
      case ((permutation, flips, digits), bit) =>
        val cell = (0 until dimensions).foldLeft(0) { (bits, axis) =>
          (bits << 1) | ((chunk >>> ((dimensions - 1 - axis) * levelsPerStep + bit)) & 1)
        }
        val next = level(permutation, cell ^ flips)
        (next.to, flips ^ next.toggled, (digits << dimensions) | next.digits)
    }

  /** One level of the transform on axes permuted by `from`.
    *
    * Skilling's running carry of the Gray code is folded in as a last flip of the leading axis: a carry complements all
    * digits, and so does flipping the axis that leads the prefix XOR.
    */
  private def level(from: Permutation, cell: Int): Transition = {
    def bitOf(axis: Int): Int = (cell >>> (dimensions - 1 - axis)) & 1
    val read = from.map(bitOf)
    val to = from.toArray
    val flipped = new Array[Boolean](dimensions)
    read.zipWithIndex.foreach { case (bit, place) =>
      if (bit == 1) {
        flipped(0) = !flipped(0)
      } else {
        val (axis, flip) = (to(0), flipped(0))
        to(0) = to(place)
        flipped(0) = flipped(place)
        to(place) = axis
        flipped(place) = flip
      }
    }
    if (read.sum % 2 == 1) flipped(0) = !flipped(0)
    val toggled = to.indices.filter(flipped(_)).map(place => 1 << (dimensions - 1 - to(place))).sum
    val digits = read.scanLeft(0)(_ ^ _).tail.foldLeft(0)((word, digit) => (word << 1) | digit)
    Transition(to.toVector, toggled, digits)
  }

  /** Repeats the bit of each axis for all levels of a chunk. */
  private def replicate(flips: Int): Int =
    (0 until dimensions).foldLeft(0) { (chunk, axis) =>
      val ones = if (((flips >>> (dimensions - 1 - axis)) & 1) == 1) (1 << levelsPerStep) - 1 else 0
      (chunk << levelsPerStep) | ones
    }
}

private[curve] object HilbertStateMachine {

  /** 7 dimensions would take 5040 x 128 entries, more than the caches hold. */
  val MaxDimensions: Int = 6

  private type Permutation = Vector[Int]

  /** @param toggled axes to flip from here on, one bit each, the first axis leftmost */
  final private case class Transition(to: Permutation, toggled: Int, digits: Int)

  /** The machine for 1 to [[MaxDimensions]] dimensions, built at the first call and shared. */
  def of(dimensions: Int): HilbertStateMachine = dimensions match {
    case 1 => One.machine
    case 2 => Two.machine
    case 3 => Three.machine
    case 4 => Four.machine
    case 5 => Five.machine
    case 6 => Six.machine
    case _ =>
      throw new IllegalArgumentException(
        s"there are tables for 1 to $MaxDimensions dimensions, not for $dimensions")
  }

  // Objects, because the JVM initializes each once, lazily and without a lock on later reads.
  private object One { val machine = new HilbertStateMachine(1, 8) }
  private object Two { val machine = new HilbertStateMachine(2, 5) }
  private object Three { val machine = new HilbertStateMachine(3, 3) }
  private object Four { val machine = new HilbertStateMachine(4, 2) }
  private object Five { val machine = new HilbertStateMachine(5, 1) }
  private object Six { val machine = new HilbertStateMachine(6, 1) }
}
