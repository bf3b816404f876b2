package io.zcube.quality

import java.util.Arrays
import java.util.stream.IntStream

import scala.util.hashing.MurmurHash3

/** Counts, for boxes over several columns, the boxes that overlap them and those that contain their
  * lower corner. Boxes are sorted into blocks with a bounding box around each block, so that most
  * blocks are skipped without checking their boxes. In the worst case it compares every measured
  * box with all others.
  *
  * @param exactUpTo above this number of files, a sample spread over the sorted files is measured
  */
final private[quality] class BoxScan(columns: IndexedSeq[FileRanges], exactUpTo: Int) {
  import BoxScan._

  private val dimensions = columns.size

  /** Files that may hold a row with a value in each column, in the order of their boxes. */
  private val sorted: Array[Int] = {
    val first = columns.head.lower
    val files =
      IntStream.range(0, first.length).filter(i => !columns.exists(_.isEmpty(i))).toArray
    // Nearly always the first column distinguishes them. Boxes that compare equal are identical, so
    // the order of the files never matters.
    SortedIndexes.of(files, i => first(i).toLong, Some(compareBoxes))
  }

  // Separate arrays, in sorted order and in blocks, so that the JVM compiles the loops over them to
  // vector instructions.
  private val lower = columns.map(column => blocks(column, column.lower)).toArray
  private val upper = columns.map(column => blocks(column, column.upper)).toArray
  private val blockLower = lower.map(_.map(_.min))
  private val blockUpper = upper.map(_.map(_.max))

  /** Ends of intervals; those of unknown files are just past the others, so that no difference
    * overflows.
    */
  private def blocks(column: FileRanges, ends: Array[Int]): Array[Array[Int]] =
    Array.tabulate((sorted.length + BlockSize - 1) / BlockSize) { number =>
      val from = number * BlockSize
      val block = new Array[Int](math.min(BlockSize, sorted.length - from))
      var i = 0
      while (i < block.length) {
        block(i) = math.max(-1, math.min(ends(sorted(from + i)), column.distinct))
        i += 1
      }
      block
    }

  /** Positions of the measured files. */
  private val places: Array[Int] = {
    val known =
      IntStream.range(0, sorted.length).filter(p => columns.forall(_.isKnown(sorted(p)))).toArray
    val affordable = math.max(MinSample, PairBudget / math.max(1, sorted.length))
    val size = math.min(known.length.toLong, math.min(exactUpTo.toLong, affordable)).toInt
    if (sorted.length <= exactUpTo || size == known.length) known
    else {
      // One from each even stretch, but not always the first: a grid of boxes is periodic.
      Array.tabulate(size) { k =>
        val from = k.toLong * known.length / size
        val until = (k + 1L) * known.length / size
        known((from + math.floorMod(MurmurHash3.mix(Seed, k) * Odd, until - from)).toInt)
      }
    }
  }

  // By column and measured file.
  private val corners = lower.map(ends => places.map(p => ends(p / BlockSize)(p % BlockSize)))
  private val opposites = upper.map(ends => places.map(p => ends(p / BlockSize)(p % BlockSize)))

  private val meeting = new Array[Int](places.length)

  /** For each measured file, the files whose box contains the lower corner of its box, itself
    * included.
    */
  val holdingCorner: Array[Int] = new Array[Int](places.length)

  // Each block, which fits into the processor's cache, is compared with all measured files before
  // the next.
  IntStream.range(0, (blockLower(0).length + Stretch - 1) / Stretch).parallel().forEach { stretch =>
    scan(stretch * Stretch, math.min(blockLower(0).length, (stretch + 1) * Stretch))
  }

  /** For each measured file, the other files whose box overlaps its box. */
  def overlaps: Array[Int] = meeting.map(_ - 1)

  /** Counts the boxes of some blocks, for each measured file. */
  private def scan(from: Int, until: Int): Unit = {
    val meets, holds = new Array[Int](places.length)
    val apart, beyond = new Array[Int](BlockSize)
    var block = from
    while (block < until) {
      val size = lower(0)(block).length
      var k = 0
      while (k < places.length) {
        if (blockMeets(block, k)) {
          Arrays.fill(apart, 0)
          Arrays.fill(beyond, 0)
          var d = 0
          while (d < dimensions) {
            compare(lower(d)(block), upper(d)(block), corners(d)(k), opposites(d)(k), apart, beyond)
            d += 1
          }
          meets(k) += size - negatives(apart, apart, size)
          holds(k) += size - negatives(apart, beyond, size)
        }
        k += 1
      }
      block += 1
    }
    synchronized {
      places.indices.foreach { k =>
        meeting(k) += meets(k)
        holdingCorner(k) += holds(k)
      }
    }
  }

  private def blockMeets(block: Int, k: Int): Boolean = {
    var d = 0
    while (d < dimensions &&
      blockLower(d)(block) <= opposites(d)(k) && corners(d)(k) <= blockUpper(d)(block)) d += 1
    d == dimensions
  }

  private def compareBoxes(a: Int, b: Int): Int = {
    var d = 0
    var sign = 0
    while (d < dimensions && sign == 0) {
      sign = Integer.compare(columns(d).lower(a), columns(d).lower(b))
      if (sign == 0) sign = Integer.compare(columns(d).upper(a), columns(d).upper(b))
      d += 1
    }
    sign
  }
}

private[quality] object BoxScan {
  private val BlockSize = 512

  /** Makes the entries negative of boxes that don't overlap the interval [corner, opposite], and of
    * those that don't begin at or before its corner. It has no branch, because half of the outcomes
    * would be mispredicted.
    */
  private def compare(
      lower: Array[Int],
      upper: Array[Int],
      corner: Int,
      opposite: Int,
      apart: Array[Int],
      beyond: Array[Int]): Unit = {
    val size = lower.length
    var i = 0
    while (i < size) {
      apart(i) = apart(i) | (opposite - lower(i)) | (upper(i) - corner)
      i += 1
    }
    i = 0
    while (i < size) {
      beyond(i) = beyond(i) | (corner - lower(i))
      i += 1
    }
  }

  /** The number of positions where one of the two numbers is negative. */
  private def negatives(a: Array[Int], b: Array[Int], size: Int): Int = {
    var count = 0
    var i = 0
    while (i < size) {
      count += (a(i) | b(i)) >>> 31
      i += 1
    }
    count
  }

  /** Blocks that one thread scans at a time. */
  private val Stretch = 32

  /** The approximate maximum number of pairs of boxes to compare, a few seconds of work. */
  private val PairBudget = 400000000L

  private val MinSample = 400L

  private val Seed = 42
  private val Odd = 0x9e3779b97f4a7c15L
}
