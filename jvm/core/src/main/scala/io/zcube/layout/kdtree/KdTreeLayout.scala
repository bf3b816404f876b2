package io.zcube.layout.kdtree

import io.zcube.curve.{HilbertCurve, SpaceFillingCurve}
import io.zcube.layout.{BucketedSample, ColumnWeights, CutPoints, CutRules, Layout, LayoutResult, SkippedRows, Workload}

/** A layout of boxes. A row's key has the number of its box in the high bits and, in the low bits,
  * the row's position on a Hilbert curve through that box, which orders the rows of a file by all
  * columns too.
  *
  * Compared with a curve over the whole space: files are boxes and not pieces of a curve, so no
  * file is wider than necessary; any number of files fits; and the next cut is chosen for each box.
  *
  * Ranks are the numbers of buckets plus 1, and 0 for NULL. A look-up walks the tree, then does a
  * subtraction, a multiplication and a shift for each column, then the curve. Nothing is allocated,
  * unless some columns aren't on the curve: columns without statistics only order rows at the same
  * position of it.
  *
  * @param tree    from ranks to boxes
  * @param ordered the columns with statistics, or all if none has any
  * @param buckets number of buckets of each column
  * @param lower   by box and column, the smallest rank
  * @param upper   by box and column, the largest rank
  */
final class KdTreeLayout private (
    val tree: KdTree,
    ordered: Array[Int],
    buckets: Array[Int],
    lower: Array[Int],
    upper: Array[Int])
    extends Layout {
  import KdTreeLayout._

  private val columns = buckets.length
  private val localBits = SpaceFillingCurve.MaxIndexBits - bitsFor(tree.boxes)
  // If there are more columns than bits, the first columns order the rows inside files.
  private val curveBits = math.max(1, math.min(MaxCurveBits, localBits / columns))
  private val onCurve = ordered.take(localBits)
  private val others = Array.range(0, columns).diff(ordered)
    .take((localBits - onCurve.length * curveBits) / curveBits)
  private val curve = HilbertCurve(onCurve.length, curveBits)
  private val otherBits = others.length * curveBits
  // Fixed-point factors from a box's ranks to the curve's coordinates.
  private val factors = lower.indices.toArray.map { i =>
    (1L << (curveBits + FractionBits)) / (upper(i) - lower(i) + 1L)
  }

  override def dimensions: Int = columns

  override def ranks(column: Int): Array[Int] = Array.range(1, buckets(column) + 1)

  override def keyOf(point: Array[Int]): Long = {
    val box = tree.boxOf(point)
    if (onCurve.length == columns) {
      var c = 0
      while (c < columns) {
        point(c) = coordinate(box, c, point(c))
        c += 1
      }
      firstKeyOf(box) | curve.index(point)
    } else {
      var rest = 0L
      others.foreach(c => rest = (rest << curveBits) | coordinate(box, c, point(c)))
      val place = curve.index(onCurve.map(c => coordinate(box, c, point(c))))
      firstKeyOf(box) | (place << otherBits) | rest
    }
  }

  private def coordinate(box: Int, column: Int, rank: Int): Int = {
    val at = box * columns + column
    // Values that weren't sampled can lie slightly outside.
    val inside = math.max(lower(at), math.min(upper(at), rank)) - lower(at)
    ((inside * factors(at)) >>> FractionBits).toInt
  }

  /** The smallest key of a box. */
  def firstKeyOf(box: Int): Long = box.toLong << localBits
}

object KdTreeLayout {

  /** A thousand positions in each column are enough to order the rows of a file. */
  private val MaxCurveBits = 10

  private val FractionBits = 32

  /** A limit of rows is usually at least a ninth above the mean file ([[io.zcube.layout.FileCount]]).
    */
  private val LargestIfTight = 1.08

  private def bitsFor(boxes: Int): Int = 32 - Integer.numberOfLeadingZeros(boxes - 1)

  /** Cuts a sample into boxes.
    *
    * Each box is a file. A box of more than one file whose rows no value divides is cut along its
    * curve, by noise where necessary, as curves are ([[CutPoints.of]]).
    *
    * @param files    number of files wanted, at least 1
    * @param rules    where files may be cut
    * @param weights  of the columns: how much more often queries filter by one than by another, 0
    *   for a column without statistics; empty if all are equal
    * @param workload queries that should skip as many rows as possible; on the sample they never
    *   skip fewer than without it
    */
  def of(
      sample: BucketedSample,
      files: Int,
      rules: CutRules,
      weights: Seq[Double],
      workload: Workload = Workload.Empty): LayoutResult = {
    require(files >= 1, s"files must be positive, not $files")
    require(
      weights.isEmpty || weights.length == sample.dimensions,
      s"${weights.length} weights for ${sample.dimensions} columns")
    require(
      weights.forall(w => w == ColumnWeights.NoStatistics || ColumnWeights.isWeight(w)),
      s"weights must not be negative: $weights")
    require(weights.isEmpty || weights.exists(_ > 0), s"a weight must be positive: $weights")
    val points = sample.points
    val byColumn = if (weights.isEmpty) points.map(_ => 1.0) else weights.toArray
    val (tree, boxes) = build(points, byColumn, files, workload, rules)
    val corners = boxes.toArray.flatMap(box => points.map(rangeOf(_, box.rows)))
    val (weighted, others) = points.indices.toArray.partition(byColumn(_) > 0)
    val layout = new KdTreeLayout(
      tree,
      if (weighted.isEmpty) others else weighted,
      sample.scales.map(_.ranks.length),
      corners.map(_._1),
      corners.map(_._2))
    val cut = cuts(layout, points, boxes, rules)
    LayoutResult(
      layout,
      cut,
      Option.when(cut.files == boxes.size)(KdTreeBoxes.of(tree, layout.dimensions)))
  }

  /** A tree for a workload may be worse than the usual one, if a cut that helps little now prevents
    * better ones, and looking ahead is an estimate. Of all rules' trees the one with the most skipped
    * rows is taken.
    */
  private def build(
      points: Array[Array[Int]],
      weights: Array[Double],
      files: Int,
      workload: Workload,
      rules: CutRules): (KdTree, Seq[KdTreeBuilder.Box]) = {
    val ranks = points.map(column => if (column.isEmpty) 1 else column.max + 1)
    val mean = points.head.length.toDouble / files
    val sizes = if (rules.isTight) RowsPerFile(mean, LargestIfTight) else RowsPerFile(mean)
    val usual = KdSplitSearch.of(points, ranks, weights)(sizes)
    def tree(search: SplitSearch) = new KdTreeBuilder(points, files, search).build()
    if (workload.isEmpty) tree(usual)
    else {
      val lookahead = new LookaheadSearch(points, ranks, weights, workload, sizes, usual)
      // The usual one, if they are alike.
      (Seq(usual, lookahead) ++ lookahead.greedy).map(tree).maxBy { case (_, boxes) =>
        SkippedRows.of(points, boxes.map(_.rows), workload)
      }
    }
  }

  private def rangeOf(ranks: Array[Int], rows: Array[Int]): (Int, Int) =
    if (rows.isEmpty) (0, 0)
    else {
      var low = Int.MaxValue
      var high = Int.MinValue
      rows.foreach { row =>
        low = math.min(low, ranks(row))
        high = math.max(high, ranks(row))
      }
      (low, high)
    }

  private def cuts(
      layout: KdTreeLayout,
      points: Array[Array[Int]],
      boxes: Seq[KdTreeBuilder.Box],
      rules: CutRules): CutPoints =
    CutPoints.at(boxes.zipWithIndex.flatMap { case (box, number) =>
      val start = Option.when(number > 0)((layout.firstKeyOf(number), 0))
      val inside =
        if (box.files == 1) Nil
        else {
          val keys = box.rows.map(row => layout.keyOf(points.map(_(row))))
          CutPoints.of(keys, box.files, rules).cuts
        }
      start ++ inside
    })
}
