package io.zcube.layout.kdtree

import java.util.Arrays

import io.zcube.layout.Layout

/** Finds the best cut of a box that is to become several files.
  *
  * Every place between two different ranks of every column is looked at, with the number of files
  * that comes nearest to the rows on its low side. A cut is worth what it saves: files times width of
  * the box, less the same of the two parts, each with the bounding box that its rows really have. So
  * a box is cut where it is widest, gaps and correlated columns count for what they are, and NULLs and
  * frequent values come off by themselves when there are enough of them.
  *
  * Cost: one pass over the box's rows for each column.
  *
  * @param points for each column, the rank of each sampled row
  * @param ranks  for each column, ranks are in [0, ranks)
  * @param even   rows of the sample in a file of mean size
  */
final private[layout] class KdSplitSearch(
    points: Array[Array[Int]],
    ranks: Array[Int],
    widths: BoxWidths,
    even: Double)
    extends SplitSearch {
  import KdSplitSearch._

  private val dimensions = points.length
  private val most = ranks.max
  // Of the rank at hand: rows, and the box of those rows; swept twice, so that each array is scratch.
  private val counts = new Array[Int](most)
  private val lows = Array.fill(dimensions)(new Array[Int](most))
  private val highs = Array.fill(dimensions)(new Array[Int](most))
  private val widthAbove = new Array[Double](most)
  private val boxLow = new Array[Int](dimensions)
  private val boxHigh = new Array[Int](dimensions)

  private var best = NoSplit
  private var bestScore = 0.0
  private var bestIsEven = false

  override def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit] = {
    best = NoSplit
    bestScore = 0.0
    bestIsEven = false
    var c = 0
    while (c < dimensions) {
      tryColumn(c, rows, from, until, files)
      c += 1
    }
    Option.when(best ne NoSplit)(best)
  }

  private def tryColumn(
      column: Int,
      rows: Array[Int],
      from: Int,
      until: Int,
      files: Int): Unit = {
    val own = points(column)
    var least = Int.MaxValue
    var greatest = 0
    var i = from
    while (i < until) {
      val rank = own(rows(i))
      if (rank < least) least = rank
      if (rank > greatest) greatest = rank
      i += 1
    }
    if (least < greatest) {
      collect(column, least, greatest, rows, from, until)
      sweepDown(least, greatest)
      sweepUp(column, least, greatest, until - from, files)
    }
  }

  /** Rows of each rank of the column, and the box of those rows. */
  private def collect(
      column: Int,
      least: Int,
      greatest: Int,
      rows: Array[Int],
      from: Int,
      until: Int): Unit = {
    val own = points(column)
    Arrays.fill(counts, least, greatest + 1, 0)
    var i = from
    while (i < until) {
      counts(own(rows(i))) += 1
      i += 1
    }
    var d = 0
    while (d < dimensions) {
      val (other, low, high) = (points(d), lows(d), highs(d))
      Arrays.fill(low, least, greatest + 1, Int.MaxValue)
      Arrays.fill(high, least, greatest + 1, -1)
      i = from
      while (i < until) {
        val rank = other(rows(i))
        val at = own(rows(i))
        if (rank < low(at)) low(at) = rank
        if (rank > high(at)) high(at) = rank
        i += 1
      }
      d += 1
    }
  }

  /** The summed width of the rows at and above each rank. */
  private def sweepDown(least: Int, greatest: Int): Unit = {
    emptyBox()
    var rank = greatest
    while (rank >= least) {
      if (counts(rank) > 0) takeIn(rank)
      widthAbove(rank) = boxWidth
      rank -= 1
    }
  }

  private def sweepUp(
      column: Int,
      least: Int,
      greatest: Int,
      rowCount: Int,
      files: Int): Unit = {
    val wholeWidth = widthAbove(least)
    val wholeError = math.abs(rowCount / (files * even) - 1)
    emptyBox()
    var below = 0
    var rank = least
    while (rank < greatest) {
      takeIn(rank)
      below += counts(rank)
      var next = rank + 1
      while (counts(next) == 0) next += 1
      val share = below.toDouble * files / rowCount
      val lowFiles = math.max(1, math.min(files - 1, math.round(share).toInt))
      val highFiles = files - lowFiles
      val lowSize = below / (lowFiles * even)
      val highSize = (rowCount - below) / (highFiles * even)
      val isEven = math.abs(lowSize - 1) <= math.max(wholeError, tolerance(lowFiles)) &&
        math.abs(highSize - 1) <= math.max(wholeError, tolerance(highFiles))
      if (isEven || (!bestIsEven && isBearable(lowSize) && isBearable(highSize))) {
        val saved = files * wholeWidth - lowFiles * boxWidth - highFiles * widthAbove(next)
        val error = math.max(math.abs(lowSize - 1), math.abs(highSize - 1))
        val evenness = math.max(0.1, 1 - UnevenCost * math.max(0.0, error - wholeError))
        val score = saved * evenness * (if (rank == Layout.NullRank) NullBonus else 1.0)
        if ((isEven && !bestIsEven) || score > bestScore) {
          // Values between that were not sampled are shared out.
          best = KdSplit(column, rank + (next - rank - 1) / 2, lowFiles)
          bestScore = score
          bestIsEven = isEven
        }
      }
      rank = next
    }
  }

  private def emptyBox(): Unit = {
    Arrays.fill(boxLow, Int.MaxValue)
    Arrays.fill(boxHigh, -1)
  }

  private def takeIn(rank: Int): Unit = {
    var d = 0
    while (d < dimensions) {
      boxLow(d) = math.min(boxLow(d), lows(d)(rank))
      boxHigh(d) = math.max(boxHigh(d), highs(d)(rank))
      d += 1
    }
  }

  private def boxWidth: Double = {
    var sum = 0.0
    var d = 0
    while (d < dimensions) {
      sum += widths.of(d, boxLow(d), boxHigh(d))
      d += 1
    }
    sum
  }
}

private[layout] object KdSplitSearch {

  private val NoSplit: KdSplit = KdSplit(-1, -1, 0)

  /** How far the mean file of a part may be off the table's mean: much for a single file, little for
    * a large part, whose own cuts need room too.
    */
  private def tolerance(files: Int): Double = 0.04 + 0.08 / files

  /** What else is borne where nothing is even, rather than tearing a value apart. */
  private def isBearable(size: Double): Boolean = size >= 0.6 && size <= 1.2

  /** Share of what a cut saves that it must pay for each unit of unevenness. */
  private val UnevenCost = 2.0

  /** What a cut between NULLs and values counts for more: no range reads the NULLs' files again, so
    * they need no more cuts in this column, which what is saved now doesn't tell.
    */
  private val NullBonus = 1.2
}
