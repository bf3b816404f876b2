package io.zcube.layout.kinds

import io.zcube.curve.{HilbertCurve, MortonCurve, SpaceFillingCurve}
import io.zcube.layout.kdtree.BoxWidths
import io.zcube.layout.{BucketedSample, CutPoints, Layout, LayoutResult, RankScale}

/** What the k-d tree can't do: bring the few values of several columns of NULLs together.
  *
  * Rows that have a value in any of them may be less than a file, or a file and a half. A tree cuts along
  * one column at a time, into whole files, so that many files get some of these rows. Along a curve over
  * dense ranks, NULL the least of them, they come close together. So for tables with such columns both
  * are worked out, and where queries would read less of the curve's files by the sample, it is taken.
  */
private[kinds] object SparseColumns {

  /** From this share of NULLs on a column is sparse. */
  private val Sparse = 0.5

  /** Of what is read of the tree's files, what must be saved at least: a tree is cheaper to look up. */
  private val LeastGain = 0.01

  /** As Delta has, so that its curves are among those that are tried. */
  private val MostBits = 10

  /** @param tree    the layout by the k-d tree
    * @param bits    of rank that the sample's buckets come from
    * @param weights of the columns; empty if all are alike
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
      if (cost(curve) < (1 - LeastGain) * cost(tree)) curve else tree
    }

  private def isSparse(buckets: Array[Int]): Boolean =
    buckets.count(_ == BucketedSample.NullBucket) > Sparse * buckets.length

  /** Over the numbers of the buckets, less their last bits where there are more than the curves have. */
  private def curvesOver(sample: BucketedSample, rankBits: Int): Seq[CurveLayout] = {
    val dimensions = sample.dimensions
    val bits = math.min(MostBits, SpaceFillingCurve.MostIndexBits / dimensions)
    val shift = math.max(0, rankBits - bits)
    val most = (1 << bits) - 1
    val scales = sample.scales.map { scale =>
      val ranks = scale.ranks.indices.map(i => math.min(most, 1 + (i >> shift)))
      RankScale(scale.boundIndices, ranks.toArray)
    }
    Seq(MortonCurve(dimensions, bits), HilbertCurve(dimensions, bits))
      .map(new CurveLayout(_, scales))
  }

  /** What two kinds of queries read of a layout, multiplied. One asks for each column alike, the other for
    * each value that a row has, so that it asks less for a column the more NULLs that has.
    */
  private def readingOf(sample: BucketedSample, weights: Seq[Double]): LayoutResult => Double = {
    val points = sample.buckets.map(_.map(_ - BucketedSample.NullBucket + Layout.NullRank))
    val ranks = sample.scales.map(_.ranks.length + Layout.NullRank + 1)
    val alike = if (weights.isEmpty) points.map(_ => 1.0) else weights.toArray
    val byValues = alike.zip(points).map { case (weight, column) =>
      // Not 0, for a column of NULLs only.
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

  /** Of all files, the mean of their widths in all columns together. */
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
