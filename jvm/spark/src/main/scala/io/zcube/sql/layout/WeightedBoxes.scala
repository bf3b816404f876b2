package io.zcube.sql.layout

import io.zcube.sql.predicates.PredicateBoxes

/** A query of a workload.
  *
  * @param boxes  where its rows lie, by the numbers of the clustering columns
  * @param weight how often it is asked, greater than 0
  */
final case class WeightedBoxes(boxes: Seq[PredicateBoxes.Box], weight: Double)
