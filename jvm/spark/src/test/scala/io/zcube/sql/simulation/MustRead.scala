package io.zcube.sql.simulation

import io.zcube.sql.predicates.PredicateBoxes

object MustRead {

  /** Whether the file may hold a row in one of the boxes. */
  def apply(test: SkippingTest, file: SimulatedFile, predicate: PredicateBoxes): Boolean =
    predicate.boxes.exists(_.forall { case (column, range) => test.touches(file, column, range) })
}
