package io.zcube.quality

import java.util.Arrays
import java.util.function.IntPredicate
import java.util.stream.IntStream

import scala.collection.immutable.SortedMap

/** How well files are clustered by one column, or by several together: what their statistics let a
  * query skip. Averages are over the files with statistics, or over a sample of them; there are
  * none if no file has statistics.
  *
  *   - A file's overlaps are the other files whose interval (box, for several columns) overlaps its
  *     own.
  *   - A file's depth is the maximum number of files that contain a point of its interval, itself
  *     included; for several columns, the number of boxes that contain the lower corner of its box.
  *   - Skipping effectiveness is 1 − the average share of all files that contain a file's minimum,
  *     or its lower corner: near 1 if an equality reads one file of many, 0 if it reads all.
  *   - A file without statistics may hold anything, so it overlaps everything. A file with only
  *     NULLs holds no value and overlaps nothing; it has no depth.
  *
  * Depth and overlaps are Snowflake's measures of clustering, with the same names.
  *
  * @param files                 the number of all files
  * @param filesWithStats        files with a minimum and a maximum, in each of the columns
  * @param measured              the files that averages, maximum and histogram are over
  * @param constantFiles         files with a single value, in each of the columns
  * @param depthHistogram        depth → files
  * @param skippingEffectiveness 0 to 1, higher is better
  */
final case class LayoutQuality(
    files: Int,
    filesWithStats: Int,
    measured: Int,
    constantFiles: Int,
    averageDepth: Option[Double],
    maximumDepth: Option[Int],
    averageOverlaps: Option[Double],
    depthHistogram: SortedMap[Int, Long],
    skippingEffectiveness: Option[Double])

object LayoutQuality {

  /** Up to this many files, each box is compared with all others; above, only a sample is. */
  val ExactBoxes = 20000

  /** The quality of one column; exact for any number of files, in n log n. */
  def ofColumn(ranges: FileRanges): LayoutQuality = {
    val sweep = new ColumnSweep(ranges)
    of(Seq(ranges), sweep.depths, sweep.overlaps, sweep.holdingMinimum)
  }

  /** The quality of all columns together. Which files are sampled depends only on the boxes. */
  def ofBoxes(columns: IndexedSeq[FileRanges], exactUpTo: Int = ExactBoxes): LayoutQuality =
    if (columns.size == 1) {
      val sweep = new ColumnSweep(columns.head)
      val holding = sweep.holdingMinimum
      of(columns, holding, sweep.overlaps, holding)
    } else {
      val scan = new BoxScan(columns, exactUpTo)
      of(columns, scan.holdingCorner, scan.overlaps, scan.holdingCorner)
    }

  /** Aggregates the figures, which have an entry for each measured file. */
  private def of(
      columns: Seq[FileRanges],
      depths: Array[Int],
      overlaps: Array[Int],
      holding: Array[Int]): LayoutQuality = {
    val files = columns.head.files
    // Uses Java streams, since there may be a million files and Scala would box each number.
    def count(isWanted: IntPredicate): Int = IntStream.range(0, files).filter(isWanted).count.toInt
    def average(numbers: Array[Int]): Option[Double] =
      Option.when(numbers.nonEmpty)(Arrays.stream(numbers).average.getAsDouble)
    LayoutQuality(
      files,
      count(i => columns.forall(_.isKnown(i))),
      depths.length,
      count(i => columns.forall(_.isConstant(i))),
      average(depths),
      Option.when(depths.nonEmpty)(depths.max),
      average(overlaps),
      histogramOf(depths),
      average(holding).map(1.0 - _ / files)
    )
  }

  private def histogramOf(depths: Array[Int]): SortedMap[Int, Long] = {
    val sorted = depths.sorted
    val histogram = SortedMap.newBuilder[Int, Long]
    var from = 0
    while (from < sorted.length) {
      var until = from + 1
      while (until < sorted.length && sorted(until) == sorted(from)) until += 1
      histogram += sorted(from) -> (until - from).toLong
      from = until
    }
    histogram.result()
  }
}
