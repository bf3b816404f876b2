package io.zcube.quality

import java.util.Arrays
import java.util.function.IntUnaryOperator
import java.util.stream.IntStream

/** Counts, for each interval of one column, the intervals that meet it, by sweeping once over the sorted
  * ends: as many intervals begin by its end as there are, less those that end before it begins.
  */
final private[quality] class ColumnSweep(ranges: FileRanges) {

  /** The files with statistics; each figure is one for each of them. */
  private val files: Array[Int] =
    IntStream.range(0, ranges.files).filter(ranges.isKnown(_)).toArray

  private val unknown = (0 until ranges.files).count(ranges.isUnknown)

  /** How many begin, or end, at this rank or before. */
  private val begun = upToRank(ranges.lower)
  private val ended = upToRank(ranges.upper)

  /** The most intervals over one point can always be had where one begins, so ranks are points enough. */
  private lazy val deepest = new RangeMaximum(Array.tabulate(ranges.distinct)(holding))

  /** Other files whose interval meets this one's. */
  def overlaps: Array[Int] = ofEach { file =>
    begun(ranges.upper(file)) - endedBefore(ranges.lower(file)) - 1 + unknown
  }

  /** The most files over one point of this one's interval. */
  def depths: Array[Int] =
    ofEach(file => deepest(ranges.lower(file), ranges.upper(file)) + unknown)

  /** Files over this one's minimum. */
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
