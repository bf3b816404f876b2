package io.zcube.quality

import scala.collection.immutable.SortedMap

/** How well files are told apart by one column, or by several together: what their statistics let a
  * query skip. Averages are over the files with statistics, or over a sample of them; there are none
  * if no file has any.
  *
  *   - A file's overlaps are the other files whose interval (box, for several columns) meets its own.
  *   - A file's depth is the most files that hold one point of its interval, itself included; for
  *     several columns, the boxes that hold the lower corner of its box.
  *   - Skipping effectiveness is 1 − the average share of all files that hold a file's minimum, or its
  *     lower corner: near 1 if an equality reads one file of many, 0 if it reads all.
  *   - A file without statistics may hold anything, and so overlaps everything. A file of NULLs only
  *     holds no value and overlaps nothing; it has no depth of its own.
  *
  * Depth and overlaps are Snowflake's measures of clustering, by the same names.
  *
  * @param files                 all of them
  * @param filesWithStats        those with a minimum and a maximum, in each of the columns
  * @param measured              the files that averages, maximum and histogram are over
  * @param constantFiles         files of one value only, in each of the columns
  * @param depthHistogram        depth → files
  * @param skippingEffectiveness 0 to 1, more is better
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

  /** Up to so many files, boxes are compared with all others; of more, a sample is. */
  val ExactBoxes = 20000

  /** Of one column; exact for any number of files, in n log n. */
  def ofColumn(ranges: FileRanges): LayoutQuality = {
    val sweep = new ColumnSweep(ranges)
    of(Seq(ranges), sweep.files)(sweep.depth, sweep.overlaps, sweep.holdingMinimum)
  }

  /** Of all the columns together. Which files are sampled depends on the boxes only. */
  def ofBoxes(columns: IndexedSeq[FileRanges], exactUpTo: Int = ExactBoxes): LayoutQuality =
    if (columns.size == 1) {
      val sweep = new ColumnSweep(columns.head)
      of(columns, sweep.files)(sweep.holdingMinimum, sweep.overlaps, sweep.holdingMinimum)
    } else {
      val scan = new BoxScan(columns, exactUpTo)
      of(columns, scan.measured)(scan.holdingCorner, scan.overlaps, scan.holdingCorner)
    }

  /** Puts the figures of the measured files together; each function is given a measured file. */
  private def of(columns: Seq[FileRanges], measured: Array[Int])(
      depth: Int => Int,
      overlaps: Int => Int,
      holding: Int => Int): LayoutQuality = {
    val files = columns.head.files
    val all = 0 until files
    val depths = measured.map(depth)
    def average(of: Int => Int): Option[Double] =
      Option.when(measured.nonEmpty)(measured.iterator.map(of(_).toLong).sum.toDouble /
        measured.length)
    LayoutQuality(
      files,
      all.count(i => columns.forall(_.isKnown(i))),
      measured.length,
      all.count(i => columns.forall(_.isConstant(i))),
      average(depth),
      depths.maxOption,
      average(overlaps),
      SortedMap.from(depths.groupMapReduce(identity)(_ => 1L)(_ + _)),
      average(holding).map(1.0 - _ / files)
    )
  }
}
