package io.zcube.sql.values

import org.apache.spark.sql.types._

import io.zcube.range.OrderPreservingBits

/** 8-byte integers that sort like the values of a type, and are equal if and only if the values
  * are.
  *
  * @param of   the number of a value in Catalyst's internal form, not null
  * @param code Java expression for the same; its argument is the code of the non-null value
  */
final class LongKey private (val of: Any => Long, val code: String => String)
    extends Serializable

object LongKey {

  /** None for types without such integers, such as strings. */
  def find(dataType: DataType): Option[LongKey] = dataType match {
    case BooleanType =>
      key(value => if (value.asInstanceOf[Boolean]) 1L else 0L, v => s"($v ? 1L : 0L)")
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType |
        TimestampNTZType | _: YearMonthIntervalType | _: DayTimeIntervalType =>
      key(_.asInstanceOf[Number].longValue, v => s"(long) $v")
    case FloatType =>
      key(
        value => OrderPreservingBits.ofFloat(value.asInstanceOf[Float]).toLong,
        v => s"io.zcube.range.OrderPreservingBits.ofFloat($v)")
    case DoubleType =>
      key(
        value => OrderPreservingBits.ofDouble(value.asInstanceOf[Double]),
        v => s"io.zcube.range.OrderPreservingBits.ofDouble($v)")
    case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
      key(_.asInstanceOf[Decimal].toUnscaledLong, v => s"$v.toUnscaledLong()")
    case _ => None
  }

  private def key(of: Any => Long, code: String => String): Option[LongKey] =
    Some(new LongKey(of, code))
}
