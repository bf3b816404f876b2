package io.zcube.layout.kinds

import java.util.Locale

import io.zcube.curve.{HilbertCurve, LinearCurve, MortonCurve, SpaceFillingCurve}
import io.zcube.layout.kdtree.KdTreeLayout
import io.zcube.layout.{BucketedSample, CutPoints, CutRules, LayoutResult, Resolution, Workload}

/** The layouts that users can name: three curves, and the k-d tree. */
sealed abstract class LayoutKind(val name: String) extends Serializable {

  /** Whether columns can have weights. */
  def takesWeights: Boolean = false

  /** Whether a workload can decide the cuts. */
  def takesWorkload: Boolean = false

  /** Bits of rank for each column; see [[Resolution.bits]]. */
  def bits(columns: Int, files: Int, ranks: Option[Int]): Int =
    Resolution.bits(columns, files, ranks)

  /** Computes the layout.
    *
    * @param sample   sampled rows of the clustering columns
    * @param files    number of files wanted
    * @param bits     bits of rank for each column
    * @param rules    where files may be cut
    * @param weights  of the columns; 0 for a column without statistics; empty if all are equal
    * @param workload queries that should skip files; empty if none are known
    */
  def layOut(
      sample: BucketedSample,
      files: Int,
      bits: Int,
      rules: CutRules,
      weights: Seq[Double],
      workload: Workload): LayoutResult
}

object LayoutKind {

  /** A layout along a space-filling curve. */
  sealed abstract class Curve(name: String) extends LayoutKind(name) {

    /** The curve over `dimensions` columns with `bits` bits each. */
    def curve(dimensions: Int, bits: Int): SpaceFillingCurve

    override def layOut(
        sample: BucketedSample,
        files: Int,
        bits: Int,
        rules: CutRules,
        weights: Seq[Double],
        workload: Workload): LayoutResult = {
      require(weights.isEmpty, s"the curve $name takes no weights")
      require(workload.isEmpty, s"the curve $name takes no workload")
      val layout = new CurveLayout(curve(sample.dimensions, bits), sample.scales)
      LayoutResult(layout, CutPoints.of(sample.keys(layout), files, rules))
    }
  }

  /** Column after column, the first most significant: a plain multi-column sort. */
  case object Linear extends Curve("linear") {
    override def curve(dimensions: Int, bits: Int): SpaceFillingCurve =
      LinearCurve(dimensions, bits)
  }

  /** Interleaved bits (G. M. Morton, 1966). */
  case object ZOrder extends Curve("zorder") {
    override def curve(dimensions: Int, bits: Int): SpaceFillingCurve =
      MortonCurve(dimensions, bits)
  }

  /** J. Skilling's Hilbert curve; neighbours on it are neighbours in space. */
  case object Hilbert extends Curve("hilbert") {
    override def curve(dimensions: Int, bits: Int): SpaceFillingCurve =
      HilbertCurve(dimensions, bits)
  }

  /** Boxes instead of pieces of a curve: see [[KdTreeLayout]]. A single column is sorted, as with
    * [[Linear]]; a workload may still decide where it is cut.
    */
  case object KdTree extends LayoutKind("kdtree") {
    override def takesWeights: Boolean = true

    override def takesWorkload: Boolean = true

    override def bits(columns: Int, files: Int, ranks: Option[Int]): Int =
      if (columns == 1) Resolution.bits(columns, files, ranks)
      else Resolution.boxBits(columns, files, ranks)

    override def layOut(
        sample: BucketedSample,
        files: Int,
        bits: Int,
        rules: CutRules,
        weights: Seq[Double],
        workload: Workload): LayoutResult =
      if (sample.dimensions == 1 && workload.isEmpty)
        Linear.layOut(sample, files, bits, rules, Nil, workload)
      else {
        val tree = KdTreeLayout.of(sample, files, rules, weights, workload)
        if (workload.isEmpty) SparseColumns.best(tree, sample, files, bits, rules, weights)
        else tree
      }
  }

  val all: Seq[LayoutKind] = Seq(Linear, ZOrder, Hilbert, KdTree)

  /** For messages. */
  val names: String = namesOf(all)

  /** Those that take weights, for messages. */
  val namesWithWeights: String = namesOf(all.filter(_.takesWeights))

  /** Those that take a workload, for messages. */
  val namesWithWorkload: String = namesOf(all.filter(_.takesWorkload))

  private def namesOf(kinds: Seq[LayoutKind]): String = {
    val (first, last) = kinds.map(_.name).splitAt(kinds.size - 2)
    first.map(_ + ", ").mkString + last.mkString(" or ")
  }

  /** The layout of that name, ignoring case. */
  def find(name: String): Option[LayoutKind] = all.find(_.name == name.toLowerCase(Locale.ROOT))
}
