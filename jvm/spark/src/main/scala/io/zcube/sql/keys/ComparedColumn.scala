package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

/** A column as a condition compares it, perhaps within a cast that keeps the order of its values:
  * translates what the condition says about the compared value to the column itself.
  */
sealed trait ComparedColumn {

  /** The column of the target, or a field of one. */
  def column: Expression

  /** The bounds of the columns' values for which the compared value equals a key. */
  def point(key: Expression): (Expression, Expression)

  /** The least value of the column for which the compared value may be `bound` or more. None if it
    * isn't known.
    */
  def low(bound: Expression): Option[Expression]

  /** The greatest for which it may be `bound` or less. */
  def high(bound: Expression): Option[Expression]
}

object ComparedColumn {

  /** @param isColumn whether an expression is a column of the target, or a field of one */
  def of(compared: Expression, isColumn: Expression => Boolean): Option[ComparedColumn] = {
    def isKey(e: Expression) = KeyTypes.isOrdered(e.dataType) && isColumn(e)
    compared match {
      case column if isKey(column) => Some(Itself(column))
      case cast @ Cast(column, to, _, _) if isKey(column) =>
        (column.dataType, to) match {
          case (from, wide) if isWiderInteger(from, wide) => Some(WiderInteger(column, wide))
          case (from, wide: DecimalType) if isWiderDecimal(from, wide) =>
            Some(WiderDecimal(column, wide))
          case (DateType, TimestampType | TimestampNTZType) => Some(DateAsTime(column, cast))
          case (TimestampType | TimestampNTZType, DateType) => Some(TimeAsDate(column, cast))
          case _ => None
        }
      case _ => None
    }
  }

  final private case class Itself(column: Expression) extends ComparedColumn {
    override def point(key: Expression): (Expression, Expression) = (key, key)
    override def low(bound: Expression): Option[Expression] = Some(bound)
    override def high(bound: Expression): Option[Expression] = Some(bound)
  }

  /** The range of each type. */
  private val Integers: Seq[(DataType, Long, Long)] = Seq(
    (ByteType, Byte.MinValue.toLong, Byte.MaxValue.toLong),
    (ShortType, Short.MinValue.toLong, Short.MaxValue.toLong),
    (IntegerType, Int.MinValue.toLong, Int.MaxValue.toLong),
    (LongType, Long.MinValue, Long.MaxValue)
  )

  private def isWiderInteger(from: DataType, to: DataType): Boolean = {
    val order = Integers.map(_._1)
    order.contains(from) && order.indexOf(from) < order.indexOf(to)
  }

  /** The number of digits of each type's numbers. */
  private val Digits: Map[DataType, Int] =
    Map(ByteType -> 3, ShortType -> 5, IntegerType -> 10, LongType -> 19)

  private def isWiderDecimal(from: DataType, to: DecimalType): Boolean = from match {
    case narrow: DecimalType =>
      to.scale >= narrow.scale && to.precision - to.scale >= narrow.precision - narrow.scale
    case integer => Digits.get(integer).exists(_ <= to.precision - to.scale)
  }

  /** An integer cast to a wider type; a key out of range matches nothing. */
  final private case class WiderInteger(column: Expression, wide: DataType) extends ComparedColumn {

    private val (_, min, max) = Integers.find(_._1 == column.dataType).get

    override def point(key: Expression): (Expression, Expression) = {
      val narrow = If(And(isAtLeast(key), isAtMost(key)), narrowed(key), none)
      (narrow, narrow)
    }

    override def low(bound: Expression): Option[Expression] =
      Some(If(isAtLeast(bound), If(isAtMost(bound), narrowed(bound), none), literal(min)))

    override def high(bound: Expression): Option[Expression] =
      Some(If(isAtMost(bound), If(isAtLeast(bound), narrowed(bound), none), literal(max)))

    private def isAtLeast(key: Expression) =
      Or(IsNull(key), GreaterThanOrEqual(Cast(key, LongType), Literal(min)))
    private def isAtMost(key: Expression) =
      Or(IsNull(key), LessThanOrEqual(Cast(key, LongType), Literal(max)))
    private def narrowed(key: Expression) = Cast(key, column.dataType)
    private def none = Literal(null, column.dataType)
    private def literal(value: Long) =
      Literal(Cast(Literal(value), column.dataType).eval(), column.dataType)
  }

  /** A number as a decimal that holds all of its values. */
  final private case class WiderDecimal(column: Expression, wide: DecimalType)
      extends ComparedColumn {

    override def point(key: Expression): (Expression, Expression) = {
      val narrow = Cast(key, column.dataType, None, EvalMode.TRY)
      val exact =
        If(EqualNullSafe(Cast(narrow, wide), key), narrow, Literal(null, column.dataType))
      (exact, exact)
    }

    // A bound that doesn't fit is NULL after a cast, which would be taken for one that matches
    // nothing.
    override def low(bound: Expression): Option[Expression] = None
    override def high(bound: Expression): Option[Expression] = None
  }

  /** A day more on both sides: time zones have skipped and repeated days. */
  final private case class DateAsTime(column: Expression, cast: Cast) extends ComparedColumn {

    override def point(key: Expression): (Expression, Expression) =
      (shifted(key, -1), shifted(key, 1))
    override def low(bound: Expression): Option[Expression] = Some(shifted(bound, -1))
    override def high(bound: Expression): Option[Expression] = Some(shifted(bound, 1))

    private def shifted(time: Expression, days: Int) =
      DateAdd(Cast(time, DateType, cast.timeZoneId, EvalMode.LEGACY), Literal(days))
  }

  final private case class TimeAsDate(column: Expression, cast: Cast) extends ComparedColumn {

    override def point(key: Expression): (Expression, Expression) =
      (shifted(key, -1), shifted(key, 2))
    override def low(bound: Expression): Option[Expression] = Some(shifted(bound, -1))
    override def high(bound: Expression): Option[Expression] = Some(shifted(bound, 2))

    private def shifted(date: Expression, days: Int) =
      Cast(DateAdd(date, Literal(days)), column.dataType, cast.timeZoneId, EvalMode.LEGACY)
  }
}
