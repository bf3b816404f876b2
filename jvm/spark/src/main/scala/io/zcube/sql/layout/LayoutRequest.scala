package io.zcube.sql.layout

import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.predicates.PredicateBoxes

/** How to lay out rows.
  *
  * @param curve    the curve, or the tree
  * @param ranks    number of ranks for each column, if the user set it
  * @param splitsValues whether rows with the same values may be in several files
  * @param weights  of the columns, if the curve supports them; 0 for a column without statistics;
  *                 empty if all are equal
  * @param workload queries that should skip files, if the curve supports them
  * @param maxRecords maximum number of rows in a file; 0 or less for no limit
  */
final case class LayoutRequest(
    curve: LayoutKind,
    ranks: Option[Int] = None,
    splitsValues: Boolean = true,
    weights: Seq[Double] = Nil,
    workload: Seq[BoxedQuery] = Nil,
    maxRecords: Long = 0)

/** A query of a workload.
  *
  * @param boxes  the boxes with its rows, by the numbers of the clustering columns
  * @param weight how often it runs, greater than 0
  */
final case class BoxedQuery(boxes: Seq[PredicateBoxes.Box], weight: Double)
