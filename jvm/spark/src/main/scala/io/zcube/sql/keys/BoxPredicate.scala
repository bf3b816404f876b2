package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.TimestampType

/** Builds the condition that a row is in one of several boxes. */
object BoxPredicate {

  /** @param columns    some of the dimensions' columns
    * @param dimensions the numbers of their dimensions
    */
  def of(
      columns: Seq[Expression],
      dimensions: Seq[Int],
      boxes: Seq[ValueBox]): Expression = {
    val each = boxes.map { box =>
      columns.zip(dimensions).map { case (column, d) => within(column, box.low(d), box.high(d)) }
        .reduce(And(_, _))
    }
    balanced(each.distinct)
  }

  private def within(column: Expression, low: Any, high: Any): Expression = {
    def literal(value: Any) = Literal(value, column.dataType)
    if (column.dataType == TimestampType && high != null) {
      // The range is widened, even for a single key: before about 1900, many zones have offsets
      // with seconds, which a writer may omit in the log. (Delta 4.4 on Spark 4.2 writes them.)
      val last = LessThanOrEqual(column, literal(shifted(high, OffsetSeconds)))
      if (low == null) Or(IsNull(column), last)
      else And(GreaterThanOrEqual(column, literal(shifted(low, -OffsetSeconds))), last)
    } else if (high == null) IsNull(column)
    else if (low == null) Or(IsNull(column), LessThanOrEqual(column, literal(high)))
    else if (low == high) EqualTo(column, literal(high))
    else And(GreaterThanOrEqual(column, literal(low)), LessThanOrEqual(column, literal(high)))
  }

  /** In microseconds: more than the seconds part of any offset. */
  private val OffsetSeconds = 60000000L

  private def shifted(micros: Any, by: Long): Long = {
    val from = micros.asInstanceOf[Long]
    val to = from + by
    if (by > 0 && to < from) Long.MaxValue else if (by < 0 && to > from) Long.MinValue else to
  }

  /** A balanced tree, because a chain would be as deep as it is long. */
  private def balanced(each: Seq[Expression]): Expression = each match {
    case Seq() => Literal.FalseLiteral
    case Seq(one) => one
    case many =>
      val (some, others) = many.splitAt(many.size / 2)
      Or(balanced(some), balanced(others))
  }
}
