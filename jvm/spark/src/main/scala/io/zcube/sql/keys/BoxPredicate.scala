package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.TimestampType

import io.zcube.sql.keys.ValueBox.Unbounded

/** Builds the condition that a row is in one of several boxes. */
object BoxPredicate {

  /** True if a box doesn't restrict these columns.
    *
    * @param columns    some of the dimensions' columns
    * @param dimensions the numbers of their dimensions
    */
  def of(
      columns: Seq[Expression],
      dimensions: Seq[Int],
      boxes: Seq[ValueBox]): Expression = {
    val each = boxes.map { box =>
      columns.zip(dimensions).flatMap { case (column, d) =>
        within(column, box.low(d), box.high(d))
      }
        .reduceOption(And(_, _))
    }
    if (each.exists(_.isEmpty)) Literal.TrueLiteral else balanced(each.flatten.distinct)
  }

  private def within(column: Expression, low: Any, high: Any): Option[Expression] = {
    // The range of times is widened, even for a single key: before about 1900, many zones have
    // offsets with seconds, which a writer may omit in the log. (Delta 4.4 on Spark 4.2 writes
    // them.)
    val slack = if (column.dataType == TimestampType) OffsetSeconds else 0L
    def literal(value: Any, by: Long) =
      Literal(if (by == 0) value else shifted(value, by), column.dataType)
    lazy val least = GreaterThanOrEqual(column, literal(low, -slack))
    lazy val greatest = LessThanOrEqual(column, literal(high, slack))
    (low, high) match {
      case (null, null) => Some(IsNull(column))
      case (null | Unbounded, Unbounded) => None
      case (null, _) => Some(Or(IsNull(column), greatest))
      case (Unbounded, _) => Some(greatest)
      case (_, Unbounded) => Some(least)
      case _ if slack == 0 && low == high => Some(EqualTo(column, literal(high, 0)))
      case _ => Some(And(least, greatest))
    }
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
