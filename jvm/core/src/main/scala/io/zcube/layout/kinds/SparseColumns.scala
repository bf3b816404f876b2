package io.zcube.layout.kinds

import io.zcube.curve.{HilbertCurve, MortonCurve, SpaceFillingCurve}
import io.zcube.layout.{BucketedSample, ColumnWeights, CutPoints, CutRules, Layout, LayoutResult, RankScale}

/** Brings the few values of several mostly-NULL columns together, which the k-d tree can't do.
  *
  * All rows that have a value in any of these columns may fill less than a file, or a file and a
  * half. A tree cuts along one column at a time, into whole files, so many files get some of these
  * rows. On a curve over dense ranks, with NULL as the smallest, they are close together. So for
  * tables with such columns both are computed, and the curve is used if queries would read less of
  * its files, judged by the sample.
  */
private[kinds] object SparseColumns {

  /** A column with a larger share of NULLs is sparse. */
  private val Sparse = 0.5

  /** The minimum share of what [[SparseQueries]] measure that a curve must save: a tree is cheaper to
    * look up.
    */
  private val MinGain = 0.01

  /** Of more files, one that has rows of both kinds hardly counts. */
  private val MaxFilesApart = 100

  /** How far the mean of the files with values, or of the others, may be from the mean of all. */
  private val MaxUneven = 0.12

  /** How far a single file of them may exceed it, unless one of the tree's does. */
  private val MaxUnevenFile = 0.15

  private val Rounding = 1e-9

  /** Delta's values, so that Delta's curves are among the candidates. */
  private val MaxBits = 10
  private val DeltasRanges = 1000

  /** @param tree    the layout by the k-d tree
    * @param bits    of rank that the sample's buckets come from
    * @param weights of the columns, 0 for one without statistics; empty if all are equal
    * @param rules   where files may be cut
    */
  def best(
      tree: LayoutResult,
      sample: BucketedSample,
      files: Int,
      bits: Int,
      rules: CutRules,
      weights: Seq[Double]): LayoutResult = {
    val withStatistics =
      (0 until sample.dimensions).filter(ColumnWeights.hasStatistics(weights, _))
    // Without spreading, a curve could be cut into few files, some of them large.
    if (files < 2 || !rules.splitsValues || !withStatistics.exists(c =>
        isSparse(sample.buckets(c)))) tree
    else {
      val queries = new SparseQueries(sample, weights)
      val filesOfTree = filesOf(sample.keys(tree.layout), tree.cuts)
      val largest = math.max(
        (1 + MaxUnevenFile) * sample.size / files,
        rowsOfFiles(filesOfTree, tree.cuts.files).max.toDouble)
      val curves = for {
        curve <- curvesOver(sample, bits, withStatistics)
        keys = sample.keys(curve)
        plain = CutPoints.of(keys, files, rules, slack = 0)
        cuts <- plain +: (if (rules.isTight) Nil else withValuesApart(keys, files))
        filesOfCurve = filesOf(keys, cuts)
        if (cuts eq plain) || rowsOfFiles(filesOfCurve, cuts.files).max <= largest
      } yield LayoutResult(curve, cuts) -> queries.reading(filesOfCurve, cuts.files)
      val byTree = queries.reading(filesOfTree, tree.cuts.files)
      curves.minByOption(_._2).filter(_._2 < (1 - MinGain) * byTree).fold(tree)(_._1)
    }
  }

  /** Cuts that give the rows with values, which have the largest keys, files of their own: as few as
    * possible, or one more. These files may be somewhat larger than the others, or smaller. If the rows
    * don't fill whole files even so, the rest of them is in one of the other files.
    */
  private def withValuesApart(keys: Array[Long], files: Int): Seq[CutPoints] =
    if (files > MaxFilesApart) Nil
    else {
      val sorted = keys.sorted
      val mean = sorted.length.toDouble / files
      val firstValue = sorted.indexWhere(_ != KeyOfNulls)
      val values = sorted.length - firstValue
      val whole = (values / mean).toInt
      def isNearlyEven(rows: Int, parts: Int) =
        math.abs(rows / (parts * mean) - 1) <= MaxUneven + Rounding
      for {
        ofValues <- Seq(whole, whole + 1)
        if firstValue > 0 && ofValues > 0 && ofValues < files
        largest = (1 + MaxUneven) * mean
        start =
          if (values <= ofValues * largest) firstValue
          else {
            val near = sorted.length - (ofValues * largest).toInt
            sorted.indexWhere(_ > sorted(near - 1), near)
          }
        if start > 0 && isNearlyEven(start, files - ofValues) &&
          isNearlyEven(sorted.length - start, ofValues)
      } yield {
        val (others, ofThese) = sorted.splitAt(start)
        CutPoints.at(
          CutPoints.of(others, files - ofValues, slack = 0).cuts ++
            ((sorted(start), 0) +: CutPoints.of(ofThese, ofValues, slack = 0).cuts))
      }
    }

  /** The key of a row with only NULLs, on either curve. */
  private val KeyOfNulls = 0L

  /** The file of each sampled row. */
  private def filesOf(keys: Array[Long], cuts: CutPoints): Array[Int] =
    Array.tabulate(keys.length)(row => cuts.fileOf(keys(row), cuts.turn(row)))

  private def rowsOfFiles(fileOf: Array[Int], files: Int): Array[Int] = {
    val rows = new Array[Int](files)
    fileOf.foreach(rows(_) += 1)
    rows
  }

  private def isSparse(buckets: Array[Int]): Boolean =
    buckets.count(_ == BucketedSample.NullBucket) > Sparse * buckets.length

  /** Over the bucket numbers, shifted to the bits that the curves have. Or over as many numbers as
    * Delta has ranges, of which the NULLs take their share: where the highest bits cut the values
    * depends on that.
    *
    * First through all columns: if that costs nothing, those without statistics order the rows inside
    * files. Then only through those with statistics.
    */
  private def curvesOver(
      sample: BucketedSample,
      rankBits: Int,
      withStatistics: Seq[Int]): Seq[CurveLayout] = {
    val dimensions = sample.dimensions
    val bits = math.min(MaxBits, SpaceFillingCurve.MaxIndexBits / dimensions)
    val maxRank = (1 << bits) - 1
    val shift = math.max(0, rankBits - bits)
    val fine = sample.scales.map(_.ranks.indices.map(i => math.min(maxRank, 1 + (i >> shift))))
    val deltas = sample.scales.zip(sample.buckets).map { case (scale, column) =>
      val values = column.count(_ != BucketedSample.NullBucket).toDouble / column.length
      val ranges = math.max(1, math.min(maxRank, math.round(DeltasRanges * values).toInt))
      val buckets = scale.ranks.length
      scale.ranks.indices.map(i =>
        if (buckets <= ranges) 1 + i else 1 + (i.toLong * ranges / buckets).toInt)
    }
    for {
      ordered <- Seq(sample.scales.indices, withStatistics).distinct
      ranks <- Seq(fine, deltas).distinct
      scales = sample.scales.indices.map { c =>
        val ofColumn = if (ordered.contains(c)) ranks(c) else ranks(c).map(_ => Layout.NullRank)
        RankScale(sample.scales(c).boundIndices, ofColumn.toArray)
      }
      curve <- Seq(MortonCurve(dimensions, bits), HilbertCurve(dimensions, bits))
    } yield new CurveLayout(curve, scales.toArray)
  }
}
