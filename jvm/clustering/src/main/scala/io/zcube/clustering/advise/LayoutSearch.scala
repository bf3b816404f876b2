package io.zcube.clustering.advise

import scala.collection.mutable

import io.zcube.layout.ColumnWeights
import io.zcube.layout.kinds.LayoutKind

/** Searches for the layout with which a workload reads least.
  *
  * Columns are chosen greedily with the k-d tree: the best single columns, the best extensions of
  * these by one column, and so on, while that saves anything. Then the best sets are tried with
  * each curve, in several orders where the order matters, and with weights.
  *
  * @param columns numbers of the columns that the table could be clustered by
  * @param frequency for each of them, the total weight of the queries that filter by it
  * @param trial what the workload would read with a layout; called once for each
  */
final class LayoutSearch(
    columns: Seq[Int],
    frequency: Map[Int, Double],
    trial: LayoutCandidate => LayoutCost) {
  import LayoutSearch._

  private val done = mutable.LinkedHashMap.empty[LayoutCandidate, LayoutCost]

  /** All candidates tried, the best first. */
  def run(): Seq[LayoutCost] = {
    val sets = grow(columns.map(Seq(_)), Nil)
    sets.flatMap(curvesOf).foreach(attempt(_): LayoutCost)
    val ranked = done.values.toSeq.sortBy(trial => (trial.bytesRead, trial.candidate.columns.size))
    preferFewerColumns(ranked)
  }

  private def grow(candidates: Seq[Seq[Int]], before: Seq[Seq[Int]]): Seq[Seq[Int]] =
    if (candidates.isEmpty) Nil
    else {
      val tried = candidates.distinctBy(_.toSet).map(set => set -> tree(set).bytesRead)
      val best = tried.sortBy(_._2).take(Kept).map(_._1)
      val gain = before.isEmpty ||
        tree(best.head).bytesRead < before.map(tree(_).bytesRead).min * (1 - MinGain)
      if (!gain) Nil
      else if (best.head.size == MaxColumns) best
      else {
        val larger = for (set <- best; c <- columns if !set.contains(c)) yield set :+ c
        best ++ grow(larger, best)
      }
    }

  private def curvesOf(set: Seq[Int]): Seq[LayoutCandidate] =
    if (set.size == 1) Nil
    else {
      // After a first column with many values, the others hardly matter in a sort.
      val sorts = set.map { first =>
        LayoutCandidate(first +: set.filterNot(_ == first), LayoutKind.Linear)
      }
      val weights = ColumnWeights.normalized(set.map(frequency).map(weight =>
        // Few digits, so that the statement is readable.
        math.max(1.0, math.round(LargestWeight * weight / set.map(frequency).max).toDouble)))
      // Of layouts that read the same, the first is recommended.
      LayoutKind.all.reverse.sortBy(_.takesWeights).flatMap {
        case LayoutKind.Linear => sorts
        case kind if kind.takesWeights =>
          Option.when(weights.nonEmpty)(LayoutCandidate(set, kind, weights))
        case kind => Some(LayoutCandidate(set, kind))
      }
    }

  private def tree(set: Seq[Int]): LayoutCost = attempt(LayoutCandidate(set, LayoutKind.KdTree))

  private def attempt(candidate: LayoutCandidate): LayoutCost =
    done.getOrElseUpdate(candidate, trial(candidate))

  /** An additional column must be worth it: among candidates that are nearly the best, fewer
    * columns win.
    */
  private def preferFewerColumns(ranked: Seq[LayoutCost]): Seq[LayoutCost] = {
    val near = ranked.takeWhile(_.bytesRead <= ranked.head.bytesRead * (1 + MinGain))
    val first = near.minBy(_.candidate.columns.size)
    first +: ranked.filterNot(_ eq first)
  }
}

object LayoutSearch {

  /** Delta's default limit for a clustered table. */
  val MaxColumns = 4

  /** Number of sets of each size that are extended by one column. */
  private val Kept = 2

  /** The share of the bytes read that justifies another column. */
  private val MinGain = 0.01

  /** The tree splits a column roughly in proportion to its weight; a larger ratio is too much. */
  private val LargestWeight = 4
}
