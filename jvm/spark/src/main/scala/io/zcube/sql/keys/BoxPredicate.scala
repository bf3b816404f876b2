package io.zcube.sql.keys

import java.time.LocalDate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, DateType, TimestampType}

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
    def literal(bound: Any) = Literal(bound, column.dataType)
    lazy val from = moved(low, column.dataType, -1)
    lazy val to = moved(high, column.dataType, 1)
    lazy val least = GreaterThanOrEqual(column, literal(from))
    lazy val greatest = LessThanOrEqual(column, literal(to))
    (low, high) match {
      case (null, null) => Some(IsNull(column))
      case (null | Unbounded, Unbounded) => None
      case (null, _) => Some(Or(IsNull(column), greatest))
      case (Unbounded, _) => Some(greatest)
      case (_, Unbounded) => Some(least)
      case _ if from == to => Some(EqualTo(column, literal(to)))
      case _ => Some(And(least, greatest))
    }
  }

  /** A bound, moved as far as statistics may be from the values. Delta parses a snapshot's statistics
    * for all sessions of an application, under the settings of the first one. With
    * `spark.sql.legacy.timeParserPolicy` = `LEGACY` there, old times move by the zone's offset then,
    * and the ten days that the Gregorian calendar skipped in 1582 move behind them. The same goes for
    * statistics that Delta wrote under this setting. Six digits of a fraction, which other writers
    * have in the log, count as milliseconds there: a minimum is up to 1,000 s too late. Besides,
    * before about 1900, many zones have offsets with seconds, which a writer may omit in the log.
    * (Delta 4.4 on Spark 4.2 writes them.)
    */
  private def moved(bound: Any, dataType: DataType, direction: Int): Any = (dataType, bound) match {
    case (DateType, days: Int) =>
      if (days < Of1583) saturated(days.toLong, direction * MovedDays, Int.MinValue).toInt else days
    case (TimestampType, micros: Long) =>
      val slack =
        if (micros < Of1974) MovedDays * MicrosPerDay
        else if (direction < 0) OffsetMicros
        else OffsetMicros + FractionMicros
      saturated(micros, direction * slack, Long.MinValue)
    case _ => bound
  }

  /** More than the skipped days and the difference of two offsets, a day, when they are written and
    * again when they are read.
    */
  private val MovedDays = 14L

  /** More than the seconds part of any offset. */
  private val OffsetMicros = 60L * 1000 * 1000

  /** A million milliseconds. */
  private val FractionMicros = 1000L * 1000 * 1000
  private val MicrosPerDay = 24L * 60 * OffsetMicros

  /** Some time after the last day, and the last time, that may move by days. */
  private val Of1583 = LocalDate.of(1583, 1, 1).toEpochDay
  private val Of1974 = LocalDate.of(1974, 1, 1).toEpochDay * MicrosPerDay

  /** @param least the least value */
  private def saturated(value: Long, by: Long, least: Long): Long =
    if (by < 0) math.max(least - by, value) + by
    else if (value > Long.MaxValue - by) Long.MaxValue
    else value + by

  /** A balanced tree, because a chain would be as deep as it is long. */
  private def balanced(each: Seq[Expression]): Expression = each match {
    case Seq() => Literal.FalseLiteral
    case Seq(one) => one
    case many =>
      val (some, others) = many.splitAt(many.size / 2)
      Or(balanced(some), balanced(others))
  }
}
