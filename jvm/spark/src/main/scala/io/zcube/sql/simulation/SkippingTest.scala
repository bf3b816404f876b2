package io.zcube.sql.simulation

import org.apache.spark.sql.types.DataType

import io.zcube.sql.predicates.{Interval, ValueRange}
import io.zcube.sql.values.ValueOrdering

/** Decides whether a file must be read for a predicate, from the file's minima, maxima and NULL
  * counts.
  *
  * @param dataTypes of the columns, in the numbering of files and predicates
  */
final class SkippingTest(dataTypes: Seq[DataType]) {

  private val orders = dataTypes.map(ValueOrdering.ofStatistics).toIndexedSeq

  /** Whether the file's values of a column, or its NULLs, are partly in the range. A file must be read
    * if each range of one of the predicate's boxes touches it.
    */
  def touches(file: SimulatedFile, column: Int, range: ValueRange): Boolean =
    (range.nulls && file.nulls(column) > 0) ||
      (file.lower(column) != null && range.values.exists { interval =>
        val order = orders(column)
        interval.lower.forall(end => reaches(order.compare(file.upper(column), end.value), end)) &&
        interval.upper.forall(end => reaches(order.compare(end.value, file.lower(column)), end))
      })

  private def reaches(beyond: Int, end: Interval.End): Boolean =
    beyond > 0 || (beyond == 0 && end.inclusive)
}
