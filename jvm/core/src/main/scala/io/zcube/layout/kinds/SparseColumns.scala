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
      val curves = curvesOver(sample, bits).map { curve =>
        LayoutResult(curve, CutPoints.of(sample.keys(curve), files, spread, slack = 0))
      }
      val curve = curves.minBy(cost)
      if (cost(curve) < (1 - MinGain) * cost(tree)) curve else tree
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

  /** The product of what two kinds of queries read from a layout. The first queries all columns
    * equally often. The second queries each non-NULL value, so it queries columns with many NULLs
    * less often.
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
      val fileOf = filesOf(sample, laidOut)
      models.map(meanWidth(points, fileOf, laidOut.cuts.files, _)).product
    }
  }

  /** The file of each sampled row. */
  private def filesOf(sample: BucketedSample, laidOut: LayoutResult): Array[Int] =
    sample.keys(laidOut.layout).zipWithIndex.map { case (key, row) =>
      laidOut.cuts.fileOf(key, laidOut.cuts.turn(row))
    }

  /** The mean of the files' widths in all columns together. */
  private def meanWidth(
      points: Array[Array[Int]],
      fileOf: Array[Int],
      files: Int,
      widths: BoxWidths): Double =
    points.indices.map { c =>
      val low = Array.fill(files)(Int.MaxValue)
      val high = Array.fill(files)(-1)
      var row = 0
      while (row < fileOf.length) {
        val rank = points(c)(row)
        if (rank != Layout.NullRank) {
          val file = fileOf(row)
          if (rank < low(file)) low(file) = rank
          if (rank > high(file)) high(file) = rank
        }
        row += 1
      }
      (0 until files).map(file => widths.of(c, low(file), high(file))).sum
    }.sum / files
}
