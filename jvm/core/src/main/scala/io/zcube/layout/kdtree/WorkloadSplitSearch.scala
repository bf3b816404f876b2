package io.zcube.layout.kdtree

import java.util.Arrays

import io.zcube.layout.{RowSetRanges, Workload}

/** Finds the cut of a box that lets a workload skip most.
  *
  * A query skips a part of the box if the ranges of the part's rows touch none of the query's boxes.
  * The gain of a cut is the number of rows that queries then skip, times the weights of the
  * queries. Every position between two ranks of every column is evaluated. If no cut lets any query
  * skip anything, as in a box that no query touches, the usual rule decides.
  *
  * From one position to the next the low part only grows, so a query skips it up to some position
  * and never after, and skips the high part from some position on. Bisection finds both positions,
  * and two running sums give the gains of all cuts of a column.
  *
  * Cost: one pass over the box's rows for each column; for each column and query box the logarithm of
  * the ranks.
  *
  * Source: Z. Yang et al., "Qd-tree: Learning Data Layouts for Big Data Analytics", SIGMOD 2020, the
  * greedy construction. Qd-tree sets only a lower limit for a block's rows; here files must be
  * even.
  *
  * @param points for each column, the rank of each sampled row
  * @param ranks  for each column, ranks are in [0, ranks)
  * @param sizes  of files
  * @param usual  the rule if no query gains
  */
final private[layout] class WorkloadSplitSearch(
    points: Array[Array[Int]],
    ranks: Array[Int],
    workload: Workload,
    sizes: RowsPerFile,
    usual: SplitSearch)
    extends SplitSearch {
  import WorkloadSplitSearch._

  private val dimensions = points.length
  private val maxUneven = math.min(MaxUneven, sizes.largest - 1)
  private val maxRanks = ranks.max
  private val counts = new Array[Int](maxRanks)
  // For the ranks that occur, in order: the rank, the rows up to it, and the ranges of the parts.
  private val slot = new Array[Int](maxRanks)
  private val rankAt = new Array[Int](maxRanks)
  private val rowsUpTo = new Array[Int](maxRanks)
  private val lowParts = new RowSetRanges(dimensions, maxRanks)
  private val highParts = new RowSetRanges(dimensions, maxRanks)
  private val whole = new RowSetRanges(dimensions, 1)
  // Weights of the queries, by the position from (up to) which they skip the low (high) part.
  private val lowChange = new Array[Double](maxRanks + 1)
  private val highChange = new Array[Double](maxRanks + 1)

  override def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit] =
    find(rows, from, until, files, asking(rows, from, until, workload.queries))

  /** @param queries those that read the box */
  def find(
      rows: Array[Int],
      from: Int,
      until: Int,
      files: Int,
      queries: Seq[Workload.Query]): Option[KdSplit] =
    cuts(rows, from, until, files, queries)
      .reduceOption(better)
      .map(_.split)
      .orElse(usual.find(rows, from, until, files))

  /** The best cut of each column, if any of its cuts lets a query skip something. */
  def cuts(rows: Array[Int], from: Int, until: Int, files: Int): Seq[Cut] =
    cuts(rows, from, until, files, asking(rows, from, until, workload.queries))

  private def cuts(
      rows: Array[Int],
      from: Int,
      until: Int,
      files: Int,
      queries: Seq[Workload.Query]): Seq[Cut] =
    if (queries.isEmpty) Nil
    else (0 until dimensions).flatMap(tryColumn(_, rows, from, until, files, queries))

  /** Those of some queries that read a box, each with its own boxes for which it does. */
  def asking(
      rows: Array[Int],
      from: Int,
      until: Int,
      queries: Seq[Workload.Query]): Seq[Workload.Query] = {
    whole.clear(1)
    whole.addRows(points, rows, from, until)(_ => 0)
    queries
      .map(query => query.copy(boxes = query.boxes.filter(whole.touches(0, _))))
      .filter(_.boxes.nonEmpty)
  }

  private def tryColumn(
      column: Int,
      rows: Array[Int],
      from: Int,
      until: Int,
      files: Int,
      asking: Seq[Workload.Query]): Option[Cut] = {
    val places = collect(column, rows, from, until)
    Arrays.fill(lowChange, 0, places + 1, 0.0)
    Arrays.fill(highChange, 0, places + 1, 0.0)
    var allLow = 0.0
    asking.foreach { query =>
      val (first, last) = reach(query, places)
      // A cut after position i has the positions 0 to i in its low part.
      allLow += query.weight
      lowChange(first) -= query.weight
      highChange(last) += query.weight
    }
    sweep(column, places, until - from, files, allLow)
  }

  private def sweep(
      column: Int,
      places: Int,
      rowCount: Int,
      files: Int,
      allLow: Double): Option[Cut] = {
    var best: Option[Cut] = None
    var skipsLow = allLow
    var skipsHigh = 0.0
    val wholeError = sizes.deviation(rowCount, files)
    var i = 0
    while (i < places - 1) {
      skipsLow += lowChange(i)
      skipsHigh += highChange(i)
      val below = rowsUpTo(i)
      val worth = skipsLow * below + skipsHigh * (rowCount - below)
      // Sums of weights that should be 0 may be slightly off.
      if (worth > Noise * allLow * rowCount) {
        val lowFiles = RowsPerFile.lowFiles(files, below, rowCount)
        val error = math.max(
          sizes.deviation(below, lowFiles),
          sizes.deviation(rowCount - below, files - lowFiles))
        if (error <= math.max(wholeError, maxUneven)) {
          // Unsampled values in between are divided.
          val maxRank = rankAt(i) + (rankAt(i + 1) - rankAt(i) - 1) / 2
          val cut = Cut(KdSplit(column, maxRank, lowFiles), worth, error)
          best = Some(best.fold(cut)(better(_, cut)))
        }
      }
      i += 1
    }
    best
  }

  /** Fills in the ranks that occur, and the ranges below and above each.
    *
    * @return the number of ranks that occur
    */
  private def collect(column: Int, rows: Array[Int], from: Int, until: Int): Int = {
    val own = points(column)
    val places =
      if ((until - from) * SortedPart < ranks(column)) collectSorted(own, rows, from, until)
      else collectCounted(own, ranks(column), rows, from, until)
    lowParts.clear(places)
    highParts.clear(places)
    lowParts.addRows(points, rows, from, until)(row => slot(own(row)))
    highParts.addRows(points, rows, from, until)(row => slot(own(row)))
    var i = 1
    while (i < places) {
      lowParts.addAll(i, i - 1)
      highParts.addAll(places - 1 - i, places - i)
      i += 1
    }
    places
  }

  private def collectCounted(
      own: Array[Int],
      rankCount: Int,
      rows: Array[Int],
      from: Int,
      until: Int): Int = {
    Arrays.fill(counts, 0, rankCount, 0)
    var i = from
    while (i < until) {
      counts(own(rows(i))) += 1
      i += 1
    }
    var places = 0
    var sum = 0
    var rank = 0
    while (rank < rankCount) {
      if (counts(rank) > 0) {
        sum += counts(rank)
        addPlace(places, rank, sum)
        places += 1
      }
      rank += 1
    }
    places
  }

  /** The same for few rows and many ranks, of which most don't occur. */
  private def collectSorted(own: Array[Int], rows: Array[Int], from: Int, until: Int): Int = {
    val sorted = Array.tabulate(until - from)(i => own(rows(from + i)))
    Arrays.sort(sorted)
    var places = 0
    var i = 0
    while (i < sorted.length) {
      if (i + 1 == sorted.length || sorted(i + 1) > sorted(i)) {
        addPlace(places, sorted(i), i + 1)
        places += 1
      }
      i += 1
    }
    places
  }

  private def addPlace(place: Int, rank: Int, upTo: Int): Unit = {
    slot(rank) = place
    rankAt(place) = rank
    rowsUpTo(place) = upTo
  }

  /** The first position whose low part a query touches, and the last whose high part it touches. */
  private def reach(query: Workload.Query, places: Int): (Int, Int) = {
    var first = places
    var last = -1
    query.boxes.foreach { box =>
      first = math.min(first, firstPlace(first)(lowParts.touches(_, box)))
      last = math.max(last, firstPlace(places)(!highParts.touches(_, box)) - 1)
    }
    (first, last)
  }
}

private[layout] object WorkloadSplitSearch {

  /** A box with less than one row for this many ranks is sorted. */
  private val SortedPart = 16L

  /** How far the mean file of a part may deviate from the table's mean. */
  val MaxUneven = 0.15

  private val Noise = 1e-9

  /** @param worth rows that queries then skip, times the weights of the queries
    * @param error how far the mean file of a part deviates from the table's mean
    */
  final case class Cut(split: KdSplit, worth: Double, error: Double)

  def better(a: Cut, b: Cut): Cut =
    if (b.worth > a.worth || (b.worth == a.worth && b.error < a.error)) b else a

  /** The first of the positions 0 to `until` - 1 where `holds` is true; it is monotonic. */
  private def firstPlace(until: Int)(holds: Int => Boolean): Int = {
    var low = 0
    var high = until
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(middle)) high = middle else low = middle + 1
    }
    low
  }
}
