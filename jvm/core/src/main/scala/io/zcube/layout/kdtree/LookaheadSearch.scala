package io.zcube.layout.kdtree

import io.zcube.layout.{Layout, Workload}

/** Finds the cut of a box below which a workload reads least.
  *
  * The greedy rule ([[WorkloadSplitSearch]]) takes what is skipped at once. But a cut that skips
  * little may be what lets later cuts skip much, and a query for several values, such as IN, skips
  * neither side of a cut between two of them. So the candidates are the best cuts of the four best
  * columns, once by the queries and once with each box as a query of its own. For each the greedy rule
  * cuts on down to files, and the candidate wins whose files the queries read least of.
  *
  * Such a trial needs no precision: it has at most 40,000 rows of the box, in 8,192 ranks of each
  * column. Where the box is a small part of the sample, the greedy rule decides by itself.
  *
  * Cost: for each of the upper 8 or so levels of the tree, a few greedy trees of 40,000 rows for each
  * box.
  *
  * Source: judging a choice by the greedy solution that follows it is the rollout of D. P.
  * Bertsekas, J. N. Tsitsiklis and C. Wu, "Rollout algorithms for combinatorial optimization",
  * Journal of Heuristics 3, 1997. Qd-tree learns from many such trees instead.
  *
  * @param points  for each column, the rank of each sampled row
  * @param ranks   for each column, ranks are in [0, ranks)
  * @param weights of the columns, for the usual rule
  * @param sizes   of files
  * @param usual   the rule if no query gains
  */
final private[layout] class LookaheadSearch(
    points: Array[Array[Int]],
    ranks: Array[Int],
    weights: Array[Double],
    workload: Workload,
    sizes: RowsPerFile,
    usual: SplitSearch)
    extends SplitSearch {
  import LookaheadSearch._

  /** The rules that look no further than the next cut: by the queries, and with each box as a query
    * of its own.
    */
  val greedy: Seq[WorkloadSplitSearch] = {
    val byBox = Option.when(workload.queries.exists(_.boxes.length > 1))(workload.byBox)
    (workload +: byBox.toSeq).map(new WorkloadSplitSearch(points, ranks, _, sizes, usual))
  }

  /** A box with fewer than 1 / trials of the sampled rows gets no trials. More boxes of queries
    * raise that limit.
    */
  private val trials =
    math.max(
      1,
      MaxTrials * FewBoxes / math.max(FewBoxes, workload.queries.map(_.boxes.length).sum))

  /** The share of a box's rows that trials have. */
  private val share = math.min(1.0, LevelRows.toDouble / points.head.length)

  private val shifts = ranks.map(shiftOf)
  private val coarsePoints = points.zip(shifts).map { case (column, shift) =>
    column.map(coarse(_, shift))
  }
  private val coarseRanks = ranks.zip(shifts).map { case (count, shift) =>
    coarse(count - 1, shift) + 1
  }
  private val coarseUsual = KdSplitSearch.of(coarsePoints, coarseRanks, weights)
  private val coarseWorkload = Workload(workload.queries.map { query =>
    query.copy(boxes = query.boxes.map(coarseBox))
  })

  override def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit] = {
    // The second only if a trial needs it, or the first has none.
    val cuts = greedy.to(LazyList).map(_.cuts(rows, from, until, files))
    if (cuts.forall(_.isEmpty)) usual.find(rows, from, until, files)
    else if (until - from < points.head.length / trials)
      cuts.find(_.nonEmpty).map(_.reduce(WorkloadSplitSearch.better).split)
    else {
      val best = cuts.flatMap(_.sortBy(-_.worth).take(MaxCandidates)).map(_.split)
      best.distinct match {
        case Seq(only) => Some(only)
        case several => Some(readingLeast(several, new Trial(rows, from, until, files)))
      }
    }
  }

  private def readingLeast(candidates: Seq[KdSplit], trial: Trial): KdSplit = {
    var best = candidates.head
    var minRead = Double.PositiveInfinity
    candidates.foreach { split =>
      val read = trial.read(split, minRead)
      if (read < minRead) {
        best = split
        minRead = read
      }
    }
    best
  }

  /** What the workload reads below a cut of a box. */
  private class Trial(rows: Array[Int], from: Int, until: Int, files: Int) {
    private val size =
      math.max(1, math.min(TrialRows, ((until - from) * share).toInt))
    private val few = math.max(2, math.min(files, size / RowsOfFile))
    private val rule = {
      val trialSizes = sizes.copy(mean = sizes.mean * size / (until - from) * files / few)
      new WorkloadSplitSearch(
        coarsePoints,
        coarseRanks,
        coarseWorkload,
        trialSizes,
        coarseUsual(trialSizes))
    }
    private val some = Array.tabulate(size) { i =>
      rows(from + (i.toLong * (until - from) / size).toInt)
    }

    /** Rows that the queries read, weighted by query. Above `limit` it stops early and returns any
      * number above `limit`.
      */
    def read(split: KdSplit, limit: Double): Double = {
      val middle = split.divide(points, some, 0, size)
      val near = math.round(split.lowFiles.toDouble * few / files).toInt
      val lowFiles = math.max(1, math.min(few - 1, near))
      readBoth(0, middle, size, lowFiles, few - lowFiles, coarseWorkload.queries, limit)
    }

    private def readBoth(
        from: Int,
        middle: Int,
        until: Int,
        lowFiles: Int,
        highFiles: Int,
        queries: Seq[Workload.Query],
        limit: Double): Double = {
      val low = readBelow(from, middle, lowFiles, queries, limit)
      if (low > limit) low else low + readBelow(middle, until, highFiles, queries, limit - low)
    }

    private def readBelow(
        from: Int,
        until: Int,
        files: Int,
        queries: Seq[Workload.Query],
        limit: Double): Double = {
      // A query that skips a box skips its parts.
      val asking = rule.asking(some, from, until, queries)
      val split =
        if (files > 1 && asking.nonEmpty) rule.find(some, from, until, files, asking) else None
      split.fold(asking.map(_.weight).sum * (until - from)) { split =>
        val middle = split.divide(coarsePoints, some, from, until)
        readBoth(from, middle, until, split.lowFiles, files - split.lowFiles, asking, limit)
      }
    }
  }

  /** Wide enough that whatever a query reads, it reads in a trial too. */
  private def coarseBox(box: Workload.Box): Workload.Box =
    box.copy(
      low = box.low.zip(shifts).map { case (rank, shift) => coarse(rank, shift) },
      high = box.high.zip(shifts).map { case (rank, shift) => coarse(rank, shift) })
}

private object LookaheadSearch {

  private val TrialRows = 40000

  /** In all boxes of a level of the tree. */
  private val LevelRows = 160000

  /** A file has at least this many rows of a trial. */
  private val RowsOfFile = 50

  private val MaxTrials = 256

  /** A workload with more boxes of values, in all queries together, gets fewer trials. */
  private val FewBoxes = 64

  /** Columns whose best cuts are tried, for each greedy rule. */
  private val MaxCandidates = 4

  private val MaxRanks = 8192

  private def shiftOf(ranks: Int): Int =
    32 - Integer.numberOfLeadingZeros(math.max(0, ranks - 2) / MaxRanks)

  private def coarse(rank: Int, shift: Int): Int =
    if (rank == Layout.NullRank) rank else ((rank - 1) >> shift) + 1
}
