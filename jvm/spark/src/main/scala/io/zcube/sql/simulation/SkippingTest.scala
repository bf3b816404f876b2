package io.zcube.sql.simulation

import org.apache.spark.sql.types.DataType

import io.zcube.sql.predicates.{Interval, PredicateBoxes, ValueRange}
import io.zcube.sql.values.ValueOrdering

/** Decides whether a file must be read for a predicate, from the file's minima, maxima and NULL
  * counts.
  *
  * @param dataTypes of the columns, in the numbering of files and predicates
  */
final class SkippingTest(dataTypes: Seq[DataType]) {

  private val orders = dataTypes.map(ValueOrdering.ofStatistics).toIndexedSeq

  /** Whether the file may hold a row in one of the boxes. */
  def mustRead(file: SimulatedFile, predicate: PredicateBoxes): Boolean =
    predicate.boxes.exists(_.forall { case (column, range) => touches(file, column, range) })

  private[simulation] def touches(file: SimulatedFile, column: Int, range: ValueRange): Boolean =
    (range.nulls && file.nulls(column) > 0) ||
      (file.lower(column) != null && range.values.exists { interval =>
        val order = orders(column)
        interval.lower.forall(end => reaches(order.compare(file.upper(column), end.value), end)) &&
        interval.upper.forall(end => reaches(order.compare(end.value, file.lower(column)), end))
      })

  private def reaches(beyond: Int, end: Interval.End): Boolean =
    beyond > 0 || (beyond == 0 && end.inclusive)
}
