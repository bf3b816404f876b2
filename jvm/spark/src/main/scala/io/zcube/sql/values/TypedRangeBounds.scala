package io.zcube.sql.values

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.catalyst.types.{PhysicalDataType, PhysicalStringType}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.range.{BytesRangeBounds, LongRangeBounds}

/** Bounds between ranges of one column's values: the id of a value is the number of bounds strictly
  * below it. Immutable; a look-up costs one binary search and, except in the general case,
  * allocates nothing.
  */
sealed trait TypedRangeBounds extends Serializable {

  /** Number of bounds, which is also the largest id. */
  def length: Int

  /** Id of a value in Catalyst's internal form, not null. */
  def idOf(value: Any): Int

  /** Java expression for the id of the non-null value whose code is `value`. */
  def genIdOf(ctx: CodegenContext, value: String): String
}

object TypedRangeBounds {

  /** Bounds at the given values, which must be strictly ascending in the type's order. */
  def at(dataType: DataType, values: Array[Any]): TypedRangeBounds =
    LongKey.find(dataType) match {
      case Some(key) => OfLong(dataType, LongRangeBounds(values.map(key.numberOf)))
      case None => ofOther(dataType, values)
    }

  private def ofOther(dataType: DataType, values: Array[Any]): TypedRangeBounds = dataType match {
    case s: StringType if PhysicalStringType(s.collationId) == PhysicalDataType(StringType) =>
      OfString(BytesRangeBounds(values.map(_.asInstanceOf[UTF8String].getBytes)))
    case BinaryType => OfBinary(BytesRangeBounds(values.map(_.asInstanceOf[Array[Byte]])))
    case other => OfOrdering(other, values)
  }

  /** Types whose order is that of a long. */
  final private case class OfLong(dataType: DataType, bounds: LongRangeBounds)
      extends TypedRangeBounds {
    // Depends on the type and not on the instance, so that two plans with the same bounds are
    // equal.
    @transient private lazy val key = LongKey.find(dataType).get
    override def length: Int = bounds.length
    override def idOf(value: Any): Int = bounds.idOf(key.numberOf(value))
    override def genIdOf(ctx: CodegenContext, value: String): String =
      s"${ctx.addReferenceObj("bounds", bounds)}.idOf(${key.code(value)})"
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
