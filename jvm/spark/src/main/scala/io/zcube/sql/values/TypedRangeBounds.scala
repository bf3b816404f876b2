package io.zcube.sql.values

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.types.{PhysicalDataType, PhysicalStringType}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.range.{BytesRangeBounds, LongRangeBounds, OrderPreservingBits}

/** Bounds between ranges of one column's values: the id of a value is the number of bounds strictly
  * below it. Immutable; a look-up costs one binary search and, but for the general case, allocates
  * nothing.
  */
sealed trait TypedRangeBounds extends Serializable {

  /** Number of bounds, the greatest id. */
  def length: Int

  /** Id of a value in Catalyst's internal form, not null. */
  def idOf(value: Any): Int

  /** Java expression for the id of the not-null value that `value` is the code of. */
  def genIdOf(ctx: CodegenContext, value: String): String
}

object TypedRangeBounds {

  /** Bounds at the given values, which ascend strictly in the type's order. */
  def at(dataType: DataType, values: Array[Any]): TypedRangeBounds = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | DateType | _: YearMonthIntervalType |
        LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      OfLong(dataType, LongRangeBounds(values.map(toLong)))
    case FloatType | DoubleType => OfLong(dataType, LongRangeBounds(values.map(toLong)))
    case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS =>
      OfLong(d, LongRangeBounds(values.map(toLong)))
    case s: StringType if PhysicalStringType(s.collationId) == PhysicalDataType(StringType) =>
      OfString(BytesRangeBounds(values.map(_.asInstanceOf[UTF8String].getBytes)))
    case BinaryType => OfBinary(BytesRangeBounds(values.map(_.asInstanceOf[Array[Byte]])))
    case other => OfOrdering(other, values)
  }

  private def toLong(value: Any): Long = value match {
    case b: Boolean => if (b) 1L else 0L
    case f: Float => OrderPreservingBits.ofFloat(f).toLong
    case d: Double => OrderPreservingBits.ofDouble(d)
    case d: Decimal => d.toUnscaledLong
    case other => other.asInstanceOf[Number].longValue
  }

  /** Types whose order is that of a long. */
  final private case class OfLong(dataType: DataType, bounds: LongRangeBounds)
      extends TypedRangeBounds {
    override def length: Int = bounds.length
    override def idOf(value: Any): Int = bounds.idOf(toLong(value))
    override def genIdOf(ctx: CodegenContext, value: String): String = {
      val key = dataType match {
        case BooleanType => s"($value ? 1L : 0L)"
        case FloatType => s"io.zcube.range.OrderPreservingBits.ofFloat($value)"
        case DoubleType => s"io.zcube.range.OrderPreservingBits.ofDouble($value)"
        case _: DecimalType => s"$value.toUnscaledLong()"
        case _ => s"(long) $value"
      }
      s"${ctx.addReferenceObj("bounds", bounds)}.idOf($key)"
    }
  }

  /** Strings in binary order. */
  final private case class OfString(bounds: BytesRangeBounds) extends TypedRangeBounds {
    override def length: Int = bounds.length
    override def idOf(value: Any): Int = {
      val s = value.asInstanceOf[UTF8String]
      bounds.idOf(s.getBaseObject, s.getBaseOffset, s.numBytes)
    }
    override def genIdOf(ctx: CodegenContext, value: String): String = {
      val b = ctx.addReferenceObj("bounds", bounds)
      s"$b.idOf($value.getBaseObject(), $value.getBaseOffset(), $value.numBytes())"
    }
  }

  final private case class OfBinary(bounds: BytesRangeBounds) extends TypedRangeBounds {
    override def length: Int = bounds.length
    override def idOf(value: Any): Int = bounds.idOf(value.asInstanceOf[Array[Byte]])
    override def genIdOf(ctx: CodegenContext, value: String): String =
      s"${ctx.addReferenceObj("bounds", bounds)}.idOf($value)"
  }

  /** Any orderable type, by Catalyst's own ordering. */
  final private case class OfOrdering(dataType: DataType, values: Array[Any])
      extends TypedRangeBounds {
    // Interpreted orderings may not serialize; each JVM makes its own.
    @transient private lazy val ordering: Ordering[Any] = ValueOrdering.of(dataType)
    override def length: Int = values.length
    override def idOf(value: Any): Int = {
      var low = 0
      var high = values.length
      while (low < high) {
        val middle = (low + high) >>> 1
        if (ordering.lt(values(middle), value)) low = middle + 1 else high = middle
      }
      low
    }
    override def genIdOf(ctx: CodegenContext, value: String): String =
      s"${ctx.addReferenceObj("bounds", this, classOf[TypedRangeBounds].getName)}.idOf($value)"
  }
}

/** Catalyst's order of the values of a type, NULLs inside structs and arrays included. */
private[sql] object ValueOrdering {
  def of(dataType: DataType): Ordering[Any] = dataType match {
    // Samples are sorted by the million: no row for each value where none is needed.
    case IntegerType | DateType | _: YearMonthIntervalType =>
      (a: Any, b: Any) => Integer.compare(a.asInstanceOf[Int], b.asInstanceOf[Int])
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      (a: Any, b: Any) => java.lang.Long.compare(a.asInstanceOf[Long], b.asInstanceOf[Long])
    case _ =>
      val rows = RowOrdering.createNaturalAscendingOrdering(Seq(dataType))
      (a: Any, b: Any) => rows.compare(InternalRow(a), InternalRow(b))
  }
}
