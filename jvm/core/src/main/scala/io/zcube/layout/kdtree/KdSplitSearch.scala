package io.zcube.layout.kdtree

import java.util.Arrays

import io.zcube.layout.Layout

/** Finds the best cut of a box that becomes several files.
  *
  * It evaluates every position between two different ranks of every column, with the number of
  * files that fits the rows on its low side best. The gain of a cut is what it saves: files times
  * width of the box, minus the same for the two parts, each with the actual bounding box of its
  * rows. So a box is cut where it is widest, gaps and correlated columns are taken into account,
  * and NULLs and frequent values are separated when there are enough of them.
  *
  * Cost: for each column, one pass over the box's rows, and a look at each rank between its smallest
  * and its largest.
  *
  * @param points  for each column, the rank of each sampled row
  * @param ranks   for each column, ranks are in [0, ranks)
  * @param columns the columns that may be cut
  * @param sizes   of files
  */
final private[layout] class KdSplitSearch private (
    points: Array[Array[Int]],
    ranks: Array[Int],
    widths: BoxWidths,
    columns: Array[Int],
    sizes: RowsPerFile)
    extends SplitSearch {
  import KdSplitSearch._

  private val dimensions = points.length
  private val maxRanks = ranks.max
  // By rank of the current column: rows, which are 0 between columns, and their bounding box. The
  // bounding boxes are only those of ranks with rows.
  private val counts = new Array[Int](maxRanks)
  private val lows = Array.fill(dimensions)(new Array[Int](maxRanks))
  private val highs = Array.fill(dimensions)(new Array[Int](maxRanks))
  private val widthAbove = new Array[Double](maxRanks)
  private val boxLow = new Array[Int](dimensions)
  private val boxHigh = new Array[Int](dimensions)

  private var best = NoSplit
  private var bestScore = 0.0
  private var bestIsEven = false

  override def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit] = {
    best = NoSplit
    bestScore = 0.0
    bestIsEven = false
    var i = 0
    while (i < columns.length) {
      tryColumn(columns(i), rows, from, until, files)
      i += 1
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
    var minRank = Int.MaxValue
    var maxRank = 0
    var i = from
    while (i < until) {
      val rank = own(rows(i))
      if (rank < minRank) minRank = rank
      if (rank > maxRank) maxRank = rank
      i += 1
    }
    if (minRank < maxRank) {
      collect(own, rows, from, until)
      sweepDown(minRank, maxRank)
      sweepUp(column, minRank, maxRank, until - from, files)
      i = from
      while (i < until) {
        counts(own(rows(i))) = 0
        i += 1
      }
    }
  }

  /** Rows of each rank of the column, and their bounding box. */
  private def collect(own: Array[Int], rows: Array[Int], from: Int, until: Int): Unit = {
    var i = from
    while (i < until) {
      val at = own(rows(i))
      if (counts(at) == 0) {
        lows.foreach(_(at) = Int.MaxValue)
        highs.foreach(_(at) = -1)
      }
      counts(at) += 1
      i += 1
    }
    var d = 0
    while (d < dimensions) {
      val (other, low, high) = (points(d), lows(d), highs(d))
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

  /** The summed width of the rows at and above each rank that has rows. */
  private def sweepDown(minRank: Int, maxRank: Int): Unit = {
    emptyBox()
    var rank = maxRank
    while (rank >= minRank) {
      if (counts(rank) > 0) {
        takeIn(rank)
        widthAbove(rank) = boxWidth
      }
      rank -= 1
    }
  }

  private def sweepUp(
      column: Int,
      minRank: Int,
      maxRank: Int,
      rowCount: Int,
      files: Int): Unit = {
    val wholeWidth = widthAbove(minRank)
    val wholeError = sizes.deviation(rowCount, files)
    emptyBox()
    var below = 0
    var rank = minRank
    while (rank < maxRank) {
      takeIn(rank)
      below += counts(rank)
      var next = rank + 1
      while (counts(next) == 0) next += 1
      val lowFiles = RowsPerFile.lowFiles(files, below, rowCount)
      val highFiles = files - lowFiles
      val lowSize = sizes.relative(below, lowFiles)
      val highSize = sizes.relative(rowCount - below, highFiles)
      val isEven = math.abs(lowSize - 1) <= math.max(wholeError, tolerance(lowFiles, sizes)) &&
        math.abs(highSize - 1) <= math.max(wholeError, tolerance(highFiles, sizes))
      if (isEven || (!bestIsEven && isBearable(lowSize, sizes) && isBearable(highSize, sizes))) {
        val saved = files * wholeWidth - lowFiles * boxWidth - highFiles * widthAbove(next)
        val error = math.max(math.abs(lowSize - 1), math.abs(highSize - 1))
        val evenness = math.max(0.1, 1 - UnevenCost * math.max(0.0, error - wholeError))
        val score = saved * evenness * (if (rank == Layout.NullRank) NullBonus else 1.0)
        if ((isEven && !bestIsEven) || score > bestScore) {
          // Unsampled values in between are divided.
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

  /** The rule for columns with these weights. A column of weight 0, which has no statistics, is cut
    * only in boxes that no other column divides.
    */
  def of(
      points: Array[Array[Int]],
      ranks: Array[Int],
      weights: Array[Double]): RowsPerFile => SplitSearch = {
    val (weighted, others) = points.indices.toArray.partition(weights(_) > 0)
    val widths = new BoxWidths(points, ranks, weights)
    lazy val widthsOfOthers =
      new BoxWidths(points, ranks, weights.map(w => if (w > 0) 0.0 else 1.0))
    sizes => {
      val first = new KdSplitSearch(points, ranks, widths, weighted, sizes)
      lazy val second = new KdSplitSearch(points, ranks, widthsOfOthers, others, sizes)
      def isPoint(rows: Array[Int], from: Int, until: Int): Boolean = weighted.forall { c =>
        (from until until).forall(i => points(c)(rows(i)) == points(c)(rows(from)))
      }
      if (others.isEmpty) first
      else (rows, from, until, files) =>
        first.find(rows, from, until, files).orElse {
          if (isPoint(rows, from, until)) second.find(rows, from, until, files) else None
        }
    }
  }

  private val NoSplit: KdSplit = KdSplit(-1, -1, 0)

  /** How far the mean file of a part may deviate from the table's mean: more for a single file,
    * less for a large part, whose own cuts need room too.
    */
  private def tolerance(files: Int, sizes: RowsPerFile): Double =
    math.min(0.04 + 0.08 / files, sizes.largest - 1)

  /** The deviation that is accepted if no cut is even, rather than splitting a value. */
  private def isBearable(size: Double, sizes: RowsPerFile): Boolean =
    size >= 0.6 && size <= math.min(1.2, sizes.largest)

  /** The share of a cut's gain that is deducted for each unit of unevenness. */
  private val UnevenCost = 2.0

  /** Bonus factor for a cut between NULLs and values: no range reads the NULLs' files any more, so
    * they need no further cuts in this column, which the immediate gain doesn't include.
    */
  private val NullBonus = 1.2
}
