package io.zcube.quality

import java.util.Arrays
import java.util.function.IntUnaryOperator
import java.util.stream.IntStream

/** Counts, for each interval of one column, the intervals that overlap it, by sweeping once over
  * the sorted ends: the number that begin at or before its end, minus those that end before it
  * begins.
  */
final private[quality] class ColumnSweep(ranges: FileRanges) {

  /** The files with statistics; each result has an entry for each of them. */
  private val files: Array[Int] =
    IntStream.range(0, ranges.files).filter(ranges.isKnown(_)).toArray

  private val unknown = (0 until ranges.files).count(ranges.isUnknown)

  /** How many begin, or end, at or before this rank. */
  private val begun = upToRank(ranges.lower)
  private val ended = upToRank(ranges.upper)

  /** Depth peaks where some interval starts, so checking starts suffices. */
  private lazy val deepest = new RangeMaximum(Array.tabulate(ranges.distinct)(holding))

  /** Other files whose interval overlaps this one's. */
  def overlaps: Array[Int] = ofEach { file =>
    begun(ranges.upper(file)) - endedBefore(ranges.lower(file)) - 1 + unknown
  }

  /** The maximum number of files over a point of this file's interval. */
  def depths: Array[Int] =
    ofEach(file => deepest(ranges.lower(file), ranges.upper(file)) + unknown)

  /** Files over this file's minimum. */
  def holdingMinimum: Array[Int] = ofEach(file => holding(ranges.lower(file)) + unknown)

  private def ofEach(figure: IntUnaryOperator): Array[Int] =
    Arrays.stream(files).map(figure).toArray

  private def holding(rank: Int): Int = begun(rank) - endedBefore(rank)

  private def endedBefore(rank: Int): Int = if (rank == 0) 0 else ended(rank - 1)

  private def upToRank(ends: Array[Int]): Array[Int] = {
    val counts = new Array[Int](ranges.distinct)
    files.foreach(file => counts(ends(file)) += 1)
    var i = 1
    while (i < counts.length) {
      counts(i) += counts(i - 1)
      i += 1
    }
    counts
  }
}
