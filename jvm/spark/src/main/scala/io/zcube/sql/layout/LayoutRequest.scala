package io.zcube.sql.layout

import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.predicates.PredicateBoxes

/** How rows are to be laid out.
  *
  * @param curve    the curve, or the tree
  * @param ranges   ranks for each column, where the user fixed them
  * @param spread   whether one key that fills more than a file is spread over several
  * @param sort     whether rows are sorted by key inside each file
  * @param weights  of the columns, where the curve takes any; empty if all are alike
  * @param workload queries that files are to be skipped by, where the curve takes any
  */
final case class LayoutRequest(
    curve: LayoutKind,
    ranges: Option[Int] = None,
    spread: Boolean = true,
    sort: Boolean = true,
    weights: Seq[Double] = Nil,
    workload: Seq[WeightedBoxes] = Nil)

/** A query of a workload.
  *
  * @param boxes  where its rows lie, by the numbers of the clustering columns
  * @param weight how often it is asked, greater than 0
  */
final case class WeightedBoxes(boxes: Seq[PredicateBoxes.Box], weight: Double)
