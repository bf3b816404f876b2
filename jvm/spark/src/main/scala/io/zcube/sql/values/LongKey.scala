package io.zcube.sql.values

import org.apache.spark.sql.catalyst.types._
import org.apache.spark.sql.types.{DataType, Decimal}

import io.zcube.range.OrderPreservingBits

/** 8-byte integers that sort like the values of a type, and are equal if and only if the values
  * are.
  *
  * @param numberOf the number of a value in Catalyst's internal form, not null
  * @param code     Java expression for the same; its argument is the code of the non-null value
  */
final class LongKey private (val numberOf: Any => Long, val code: String => String)
    extends Serializable

object LongKey {

  /** None for types without such integers, such as strings. It asks for the physical type, so that a
    * new type of Spark that is stored as a number needs no line here.
    */
  def find(dataType: DataType): Option[LongKey] = PhysicalDataType(dataType) match {
    case PhysicalBooleanType =>
      key(value => if (value.asInstanceOf[Boolean]) 1L else 0L, v => s"($v ? 1L : 0L)")
    case PhysicalByteType | PhysicalShortType | PhysicalIntegerType | PhysicalLongType =>
      key(_.asInstanceOf[Number].longValue, v => s"(long) $v")
    case PhysicalFloatType =>
      key(
        value => OrderPreservingBits.ofFloat(value.asInstanceOf[Float]).toLong,
        v => s"io.zcube.range.OrderPreservingBits.ofFloat($v)")
    case PhysicalDoubleType =>
      key(
        value => OrderPreservingBits.ofDouble(value.asInstanceOf[Double]),
        v => s"io.zcube.range.OrderPreservingBits.ofDouble($v)")
    case PhysicalDecimalType(precision, _) if precision <= Decimal.MAX_LONG_DIGITS =>
      key(_.asInstanceOf[Decimal].toUnscaledLong, v => s"$v.toUnscaledLong()")
    case _ => None
  }

  private def key(numberOf: Any => Long, code: String => String): Option[LongKey] =
    Some(new LongKey(numberOf, code))
}
