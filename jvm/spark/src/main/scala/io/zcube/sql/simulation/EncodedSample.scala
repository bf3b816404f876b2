package io.zcube.sql.simulation

import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.IntegerType

import io.zcube.sql.predicates.{Interval, PredicateBoxes, ValueRange}
import io.zcube.sql.sampling.RowSample
import io.zcube.sql.values.ValueOrdering

/** A sample whose values are replaced by small numbers in the same order, so that many layouts can
  * be tried quickly: layouts depend only on the order.
  *
  * The distinct values of a column are numbered 0, 2, 4, …; a value between two of them, such as
  * the end of a predicate's range, has the odd number in between. {{{
  *   values 10, 30, 30, 70  →  0, 2, 2, 4      30 is 2, 31 is 3, 5 is -1
  * }}}
  *
  * @param sample of INT columns
  */
final class EncodedSample private (original: RowSample, distinct: IndexedSeq[Array[Any]]) {

  private val orders = original.dataTypes.map(ValueOrdering.ofStatistics).toIndexedSeq

  val sample: RowSample = original.copy(
    dataTypes = original.dataTypes.map(_ => IntegerType),
    rows = original.rows.map { row =>
      new GenericInternalRow(distinct.indices.map { c =>
        if (row.isNullAt(c)) null else codeOf(c, row.get(c, original.dataTypes(c)))
      }.toArray[Any]): InternalRow
    }
  )

  /** The number of a value in the column, which need not be in the sample. */
  def codeOf(column: Int, value: Any): Int = {
    val at = Arrays.binarySearch(
      distinct(column).asInstanceOf[Array[AnyRef]],
      value.asInstanceOf[AnyRef],
      orders(column).asInstanceOf[java.util.Comparator[AnyRef]])
    if (at >= 0) 2 * at else 2 * (-at - 1) - 1
  }

  /** How many values the column has, apart from NULL. */
  def distinctOf(column: Int): Int = distinct(column).length

  /** For each column, how many rows have a value with a smaller number; at the end, how many have any. */
  private lazy val before: IndexedSeq[Array[Int]] = distinct.indices.map { c =>
    val counts = new Array[Int](distinct(c).length)
    sample.rows.foreach(row => if (!row.isNullAt(c)) counts(row.getInt(c) / 2) += 1)
    counts.scanLeft(0)(_ + _)
  }

  /** How many rows have a value of a range, whose ends are numbers. */
  def rowsIn(column: Int, range: ValueRange): Int = {
    val rows = before(column)
    // The number of values before an end, or up to it.
    def values(end: Interval.End, included: Boolean): Int = {
      val code = end.value.asInstanceOf[Int]
      if (included) Math.floorDiv(code, 2) + 1 else Math.floorDiv(code + 1, 2)
    }
    val nulls = if (range.nulls) sample.rows.length - rows.last else 0
    nulls + range.values.fold(0) { interval =>
      val from = interval.lower.fold(0)(end => values(end, included = !end.inclusive))
      val until = interval.upper.fold(rows.length - 1)(end => values(end, end.inclusive))
      math.max(0, rows(until) - rows(from))
    }
  }

  /** The same boxes, as numbers. */
  def code(predicate: PredicateBoxes): PredicateBoxes =
    predicate.copy(boxes = predicate.boxes.map(_.map { case (c, range) => c -> code(c, range) }))

  private def code(column: Int, range: ValueRange): ValueRange = {
    def encoded(end: Interval.End) = end.copy(value = codeOf(column, end.value))
    range.copy(values =
      range.values.map(interval =>
        Interval(interval.lower.map(encoded), interval.upper.map(encoded))))
  }
}

object EncodedSample {

  def of(sample: RowSample): EncodedSample = {
    val distinct = sample.dataTypes.indices.map { c =>
      val dataType = sample.dataTypes(c)
      val order = ValueOrdering.ofStatistics(dataType).asInstanceOf[java.util.Comparator[AnyRef]]
      val values = sample.rows.iterator
        .filterNot(_.isNullAt(c))
        .map(_.get(c, dataType).asInstanceOf[AnyRef])
        .toArray
      Arrays.sort(values, order)
      values.indices.iterator
        .filter(i => i == 0 || order.compare(values(i - 1), values(i)) != 0)
        .map(values(_): Any)
        .toArray
    }
    new EncodedSample(sample, distinct)
  }
}
