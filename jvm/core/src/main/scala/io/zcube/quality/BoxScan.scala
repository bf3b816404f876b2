package io.zcube.quality

import java.util.Arrays
import java.util.stream.IntStream

import scala.util.hashing.MurmurHash3

/** Counts, for boxes of several columns, the boxes that meet them and those that hold their lower corner.
  * Boxes are sorted and put into blocks with a box around each block, so that most blocks are passed
  * over without a look at what is in them. At worst it compares every measured box with all others.
  *
  * @param exactUpTo of more files, a sample spread over the sorted ones is measured
  */
final private[quality] class BoxScan(columns: IndexedSeq[FileRanges], exactUpTo: Int) {
  import BoxScan._

  private val dimensions = columns.size

  /** Files that may hold a row with a value in each column, in the order of their boxes. */
  private val sorted: Array[Int] = {
    val first = columns.head.lower
    val files = Array.range(0, first.length).filter(i => !columns.exists(_.isEmpty(i)))
    // Nearly always the first column tells them apart, and numbers are sorted fast.
    val keys = files.map(i => (first(i).toLong << 32) | i)
    Arrays.parallelSort(keys)
    val order = keys.map(_.toInt)
    var from = 0
    while (from < order.length) {
      var until = from + 1
      while (until < order.length && first(order(until)) == first(order(from))) until += 1
      if (until > from + 1) sortWhole(order, from, until)
      from = until
    }
    order
  }

  private def sortWhole(order: Array[Int], from: Int, until: Int): Unit = {
    val run = order.slice(from, until).map(Integer.valueOf)
    Arrays.parallelSort(run, (a: Integer, b: Integer) => compare(a, b))
    run.indices.foreach(i => order(from + i) = run(i))
  }

  // By place in the sorted order, so that a block's boxes lie side by side in memory.
  private val lower = columns.map(column => sorted.map(column.lower)).toArray
  private val upper = columns.map(column => sorted.map(column.upper)).toArray
  private val blockLower = lower.map(_.grouped(BlockSize).map(_.min).toArray)
  private val blockUpper = upper.map(_.grouped(BlockSize).map(_.max).toArray)

  /** Places of the files that are measured. */
  private val places: Array[Int] = {
    val known = sorted.indices.filter(p => columns.forall(_.isKnown(sorted(p)))).toArray
    val affordable = math.max(LeastSample, PairBudget / math.max(1, sorted.length))
    val size = math.min(known.length.toLong, math.min(exactUpTo.toLong, affordable)).toInt
    if (sorted.length <= exactUpTo || size == known.length) known
    else {
      // One of each even stretch, but not always its first: a grid of boxes has a period of its own.
      Array.tabulate(size) { k =>
        val from = k.toLong * known.length / size
        val until = (k + 1L) * known.length / size
        known((from + math.floorMod(MurmurHash3.mix(Seed, k) * Odd, until - from)).toInt)
      }
    }
  }

  /** The files that are measured. */
  val measured: Array[Int] = places.map(sorted)

  private val (meeting, holding) = {
    val meeting = new Array[Int](columns.head.files)
    val holding = new Array[Int](columns.head.files)
    IntStream.range(0, places.length).parallel().forEach(k => measure(places(k), meeting, holding))
    (meeting, holding)
  }

  /** Other files whose box meets this measured one's. */
  def overlaps(file: Int): Int = meeting(file) - 1

  /** Files whose box holds the lower corner of this measured one's, itself included. */
  def holdingCorner(file: Int): Int = holding(file)

  private def measure(place: Int, meeting: Array[Int], holding: Array[Int]): Unit = {
    var meets = 0
    var holds = 0
    var block = 0
    while (block * BlockSize < sorted.length) {
      if (meet(blockLower, blockUpper, block, place)) {
        val end = math.min(sorted.length, (block + 1) * BlockSize)
        var other = block * BlockSize
        while (other < end) {
          if (meet(lower, upper, other, place)) {
            meets += 1
            // A box that holds the corner meets the box, so none is missed here.
            if (holdsCorner(other, place)) holds += 1
          }
          other += 1
        }
      }
      block += 1
    }
    meeting(sorted(place)) = meets
    holding(sorted(place)) = holds
  }

  private def meet(
      lowers: Array[Array[Int]],
      uppers: Array[Array[Int]],
      other: Int,
      place: Int): Boolean = {
    var d = 0
    while (d < dimensions &&
      lowers(d)(other) <= upper(d)(place) && lower(d)(place) <= uppers(d)(other)) d += 1
    d == dimensions
  }

  private def holdsCorner(other: Int, place: Int): Boolean = {
    var d = 0
    while (d < dimensions && lower(d)(other) <= lower(d)(place)) d += 1
    d == dimensions
  }

  /** Boxes that compare equal are the same, so the order of the files' coming never matters. */
  private def compare(a: Int, b: Int): Int = {
    var d = 0
    var order = 0
    while (d < dimensions && order == 0) {
      order = Integer.compare(columns(d).lower(a), columns(d).lower(b))
      if (order == 0) order = Integer.compare(columns(d).upper(a), columns(d).upper(b))
      d += 1
    }
    order
  }
}

private[quality] object BoxScan {
  private val BlockSize = 128

  /** Pairs of boxes to compare at most, about; some seconds' work. */
  private val PairBudget = 400000000L

  private val LeastSample = 400L

  private val Seed = 42
  private val Odd = 0x9e3779b97f4a7c15L
}
