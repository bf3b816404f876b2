package io.zcube.quality

/** Counts, for each interval of one column, the intervals that meet it, by sweeping once over the sorted
  * ends: as many intervals begin by its end as there are, less those that end before it begins.
  */
final private[quality] class ColumnSweep(ranges: FileRanges) {

  /** The files with statistics. */
  val files: Array[Int] = Array.range(0, ranges.files).filter(ranges.isKnown)

  private val unknown = (0 until ranges.files).count(ranges.isUnknown)

  /** How many begin, or end, at this rank or before. */
  private val begun = upToRank(ranges.lower)
  private val ended = upToRank(ranges.upper)

  /** The most intervals over one point can always be had where one begins, so ranks are points enough. */
  private val deepest = new RangeMaximum(Array.tabulate(ranges.distinct)(holding))

  /** Other files whose interval meets this one's. */
  def overlaps(file: Int): Int =
    begun(ranges.upper(file)) - endedBefore(ranges.lower(file)) - 1 + unknown

  /** The most files over one point of this one's interval. */
  def depth(file: Int): Int = deepest(ranges.lower(file), ranges.upper(file)) + unknown

  /** Files over this one's minimum. */
  def holdingMinimum(file: Int): Int = holding(ranges.lower(file)) + unknown

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
