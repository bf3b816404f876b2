package io.zcube.curve

import scala.collection.mutable

/** Skilling's transform as a state machine, tabled.
  *
  * From one bit level to the next the transform only exchanges and reflects the axes of what lies
  * below, and carries one parity bit of the Gray code: that is its whole state, and few states can be
  * reached. A table maps (state, some bits of each coordinate) to (bits of the index, next state), so
  * that a step is one array access.
  *
  * Cost: bits / [[levels]] steps; the tables take 4 bytes for each state and input (2 dimensions:
  * 2^8 inputs, 3: 2^9, 4: 2^8, 5: 2^10).
  */
final class HilbertStates private (val dimensions: Int) {

  /** Bits of each coordinate that one step consumes. */
  val levels: Int = HilbertStates.Levels(dimensions)

  private val reached = mutable.LinkedHashMap.empty[HilbertStates.Frame, Int]

  /** One level: next state << 16 | index bits, at state << dimensions | input. */
  private val single: Array[Int] = {
    val first = HilbertStates.Frame(Vector.range(0, dimensions), Vector.fill(dimensions)(0), 0)
    reached(first) = 0
    val steps = mutable.ArrayBuffer.empty[Int]
    val queue = mutable.Queue(first)
    while (queue.nonEmpty) {
      val frame = queue.dequeue()
      (0 until (1 << dimensions)).foreach { input =>
        val (output, next) = frame.step(input)
        val state = reached.getOrElseUpdate(
          next, {
            queue.enqueue(next)
            reached.size
          })
        steps += (state << 16) | output
      }
    }
    steps.toArray
  }

  /** `levels` levels at once: next state << 16 | index bits, at state << width | input. */
  private val width = dimensions * levels
  private val table: Array[Int] = Array.tabulate(reached.size << width) { entry =>
    var state = entry >>> width
    var output = 0
    var level = levels - 1
    while (level >= 0) {
      var input = 0
      var d = 0
      while (d < dimensions) {
        val chunk = entry >>> ((dimensions - 1 - d) * levels)
        input = (input << 1) | ((chunk >>> level) & 1)
        d += 1
      }
      val step = single((state << dimensions) | input)
      output = (output << dimensions) | (step & 0xffff)
      state = step >>> 16
      level -= 1
    }
    (state << 16) | output
  }

  /** Index of a point of `bits` bits a coordinate. */
  def index(point: Array[Int], bits: Int): Long = {
    var result = 0L
    var state = 0
    var shift = bits
    // What is left over of whole steps goes first: a leading zero would turn the curve.
    while (shift % levels != 0) {
      shift -= 1
      var input = 0
      var d = 0
      while (d < dimensions) {
        input = (input << 1) | ((point(d) >>> shift) & 1)
        d += 1
      }
      val step = single((state << dimensions) | input)
      result = (result << dimensions) | (step & 0xffff)
      state = step >>> 16
    }
    val mask = (1 << levels) - 1
    while (shift > 0) {
      shift -= levels
      var input = state
      var d = 0
      while (d < dimensions) {
        input = (input << levels) | ((point(d) >>> shift) & mask)
        d += 1
      }
      val step = table(input)
      result = (result << width) | (step & 0xffff)
      state = step >>> 16
    }
    result
  }
}

object HilbertStates {

  val MostDimensions: Int = 5

  /** Levels a step, by number of dimensions: tables of some ten thousand entries. */
  private val Levels = Vector(0, 0, 4, 3, 2, 2)

  private lazy val tables = (2 to MostDimensions).map(n => n -> new Lazy(n)).toMap

  final private class Lazy(dimensions: Int) {
    lazy val states: HilbertStates = new HilbertStates(dimensions)
  }

  /** The tables for 2 to 5 dimensions; built once. */
  def of(dimensions: Int): HilbertStates = tables(dimensions).states

  /** How the levels below see the axes.
    *
    * @param axis   which coordinate stands at each place
    * @param flip   1 where its bits are reflected
    * @param parity parity of the last Gray code bits above
    */
  final private case class Frame(axis: Vector[Int], flip: Vector[Int], parity: Int) {

    /** Index bits of one level and the frame for the next; coordinate 0 is the input's high bit. */
    def step(input: Int): (Int, Frame) = {
      val n = axis.length
      val bits = Array.tabulate(n)(i => ((input >>> (n - 1 - axis(i))) & 1) ^ flip(i))
      val nextAxis = axis.toArray
      val nextFlip = flip.toArray
      bits.indices.foreach { i =>
        if (bits(i) == 1) {
          nextFlip(0) ^= 1
        } else {
          val (a, f) = (nextAxis(0), nextFlip(0))
          nextAxis(0) = nextAxis(i)
          nextFlip(0) = nextFlip(i)
          nextAxis(i) = a
          nextFlip(i) = f
        }
      }
      val gray = bits.scanLeft(0)(_ ^ _).tail
      val output = gray.foldLeft(0)((out, bit) => (out << 1) | (bit ^ parity))
      (output, Frame(nextAxis.toVector, nextFlip.toVector, parity ^ gray.last))
    }
  }
}
