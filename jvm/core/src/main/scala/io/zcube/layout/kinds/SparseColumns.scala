package io.zcube.layout.kinds

import io.zcube.curve.{HilbertCurve, MortonCurve, SpaceFillingCurve}
import io.zcube.layout.kdtree.BoxWidths
import io.zcube.layout.{BucketedSample, CutPoints, Layout, LayoutResult, RankScale}

/** Brings the few values of several mostly-NULL columns together, which the k-d tree can't do.
  *
  * All rows that have a value in any of these columns may fill less than a file, or a file and a
  * half. A tree cuts along one column at a time, into whole files, so many files get some of these
  * rows. On a curve over dense ranks, with NULL as the smallest, they are close together. So for
  * tables with such columns both are computed, and the curve is used if queries would read less of
  * its files, judged by the sample.
  */
private[kinds] object SparseColumns {

  /** A column with at least this share of NULLs is sparse. */
  private val Sparse = 0.5

  /** The minimum share of the tree's reads that a curve must save: a tree is cheaper to look up. */
  private val MinGain = 0.01

  /** How far a file's rows may differ from the mean, as a share of it. */
  private val MaxUneven = 0.12

  /** Delta's values, so that Delta's curves are among the candidates. */
  private val MaxBits = 10
  private val DeltasRanges = 1000

  /** @param tree    the layout by the k-d tree
    * @param bits    of rank that the sample's buckets come from
    * @param weights of the columns; empty if all are equal
    */
  def best(
      tree: LayoutResult,
      sample: BucketedSample,
      files: Int,
      bits: Int,
      spread: Boolean,
      weights: Seq[Double]): LayoutResult =
    if (files < 2 || !sample.buckets.exists(isSparse)) tree
    else {
      val cost = readingOf(sample, weights)
      val curves = curvesOver(sample, bits).flatMap { curve =>
        val keys = sample.keys(curve)
        val even = CutPoints.of(keys, files, spread, slack = 0)
        (even +: withValuesApart(keys, files, spread)).map(LayoutResult(curve, _))
      }
      val curve = curves.minBy(cost)
      if (cost(curve) < (1 - MinGain) * cost(tree)) curve else tree
    }

  /** Cuts that give the rows with values, which have the largest keys, files of their own, and as few
    * as possible: these files may be somewhat larger than the others, or smaller. If the rows don't
    * fill whole files even so, the rest of them is in one of the other files.
    */
  private def withValuesApart(keys: Array[Long], files: Int, spread: Boolean): Seq[CutPoints] = {
    val sorted = keys.sorted
    val even = sorted.length.toDouble / files
    val values = sorted.length - sorted.lastIndexWhere(_ == sorted.head) - 1
    def isNearlyEven(rows: Int, parts: Int) = math.abs(rows / (parts * even) - 1) <= MaxUneven
    val whole = (values / even).toInt
    for {
      ofValues <- Seq(whole, whole + 1) if ofValues > 0 && ofValues < files
      size = math.min(values.toDouble / ofValues, (1 + MaxUneven) * even)
      near = math.max(1, math.ceil(sorted.length - ofValues * size).toInt)
      start = sorted.indexWhere(_ > sorted(near - 1), near)
      if start > 0 && isNearlyEven(start, files - ofValues) &&
        isNearlyEven(sorted.length - start, ofValues)
    } yield {
      val (others, ofThese) = sorted.splitAt(start)
      CutPoints.at(
        CutPoints.of(others, files - ofValues, spread, slack = 0).cuts ++
          ((sorted(start), 0) +: CutPoints.of(ofThese, ofValues, spread, slack = 0).cuts))
    }
  }

  private def isSparse(buckets: Array[Int]): Boolean =
    buckets.count(_ == BucketedSample.NullBucket) > Sparse * buckets.length

  /** Over the bucket numbers, of which there are at most as many as the curves have bits for. Or as
    * many as Delta has ranges, of which the NULLs take their share: where the highest bits cut the
    * values depends on that.
    */
  private def curvesOver(sample: BucketedSample, rankBits: Int): Seq[CurveLayout] = {
    val dimensions = sample.dimensions
    val bits = math.min(MaxBits, SpaceFillingCurve.MaxIndexBits / dimensions)
    val shift = math.max(0, rankBits - bits)
    val most = (1 << bits) - 1
    val fine = sample.scales.map(_.ranks.indices.map(i => math.min(most, 1 + (i >> shift))))
    val deltas = sample.scales.zip(sample.buckets).map { case (scale, column) =>
      val values = column.count(_ != BucketedSample.NullBucket).toDouble / column.length
      val ranges = math.max(1, math.min(most, math.round(DeltasRanges * values).toInt))
      val buckets = scale.ranks.length
      scale.ranks.indices.map(i =>
        if (buckets <= ranges) 1 + i else 1 + (i.toLong * ranges / buckets).toInt)
    }
    for {
      ranks <- Seq(fine, deltas).distinct
      scales = sample.scales.zip(ranks).map { case (scale, of) =>
        RankScale(scale.boundIndices, of.toArray)
      }
      curve <- Seq(MortonCurve(dimensions, bits), HilbertCurve(dimensions, bits))
    } yield new CurveLayout(curve, scales)
  }

  /** The product of what three kinds of queries read from a layout. The first asks for values of one
    * column, of all columns equally often. The second asks for each non-NULL value equally often, so
    * for columns with many NULLs less often. The third asks for all values of a row.
    */
  private def readingOf(sample: BucketedSample, weights: Seq[Double]): LayoutResult => Double = {
    val points = sample.buckets.map(_.map(_ - BucketedSample.NullBucket + Layout.NullRank))
    val ranks = sample.scales.map(_.ranks.length + Layout.NullRank + 1)
    val alike = if (weights.isEmpty) points.map(_ => 1.0) else weights.toArray
    val byValues = alike.zip(points).map { case (weight, column) =>
      // Not 0, even for a column with only NULLs.
      weight * (column.count(_ != Layout.NullRank) + 1.0) / (column.length + 1.0)
    }
    val models = Seq(alike, byValues).map(new BoxWidths(points, ranks, _))
    laidOut => {
      val boxes = boxesOf(points, filesOf(sample, laidOut), laidOut.cuts.files)
      models.map(boxes.meanWidth).product * boxes.filesOfRow
    }
  }

  /** The file of each sampled row. */
  private def filesOf(sample: BucketedSample, laidOut: LayoutResult): Array[Int] =
    sample.keys(laidOut.layout).zipWithIndex.map { case (key, row) =>
      laidOut.cuts.fileOf(key, laidOut.cuts.turn(row))
    }

  /** The ranks of the values in each file. */
  private def boxesOf(points: Array[Array[Int]], fileOf: Array[Int], files: Int): Boxes = {
    val low = points.map(_ => Array.fill(files)(Int.MaxValue))
    val high = points.map(_ => Array.fill(files)(-1))
    for (c <- points.indices) {
      var row = 0
      while (row < fileOf.length) {
        val rank = points(c)(row)
        if (rank != Layout.NullRank) {
          val file = fileOf(row)
          if (rank < low(c)(file)) low(c)(file) = rank
          if (rank > high(c)(file)) high(c)(file) = rank
        }
        row += 1
      }
    }
    new Boxes(points, low, high)
  }

  final private class Boxes(
      points: Array[Array[Int]],
      low: Array[Array[Int]],
      high: Array[Array[Int]]) {

    private val files = low.head.length

    /** The mean of the files' widths in all columns together. */
    def meanWidth(widths: BoxWidths): Double = points.indices.map { c =>
      (0 until files).map(file => widths.of(c, low(c)(file), high(c)(file))).sum
    }.sum / files

    /** The mean number of files that may hold all values of a row, over some rows with values. */
    def filesOfRow: Double = {
      val rows = points.head.indices.filter(row => points.exists(_(row) != Layout.NullRank))
      val every = math.max(1, rows.length.toLong * files / MaxTested).toInt
      val tested = rows.indices.by(every).map(rows)
      val read = tested.map { row =>
        val asked = points.indices.filter(points(_)(row) != Layout.NullRank)
        var (file, found) = (0, 0)
        while (file < files) {
          if (asked.forall(c =>
              low(c)(file) <= points(c)(row) && points(c)(row) <= high(c)(file))) found += 1
          file += 1
        }
        found
      }
      // Not 0, if there are only NULLs.
      math.max(1, read.sum).toDouble / math.max(1, tested.length)
    }
  }

  /** The maximum number of rows, times files, that are tested. */
  private val MaxTested = 200000
}
