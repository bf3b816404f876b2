package io.zcube.sql.values

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.types.{PhysicalDataType, PhysicalIntegerType, PhysicalLongType}
import org.apache.spark.sql.types.{DataType, NullType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Orders of the values of a type, in Catalyst's internal form and not null. */
object ValueOrdering {

  /** Catalyst's order, NULLs inside structs and arrays included. */
  def of(dataType: DataType): Ordering[Any] = PhysicalDataType(dataType) match {
    // Samples with millions of values are sorted, so it avoids a row for each value where possible.
    case PhysicalIntegerType =>
      (a: Any, b: Any) => Integer.compare(a.asInstanceOf[Int], b.asInstanceOf[Int])
    case PhysicalLongType =>
      (a: Any, b: Any) => java.lang.Long.compare(a.asInstanceOf[Long], b.asInstanceOf[Long])
    case _ =>
      val rows = RowOrdering.createNaturalAscendingOrdering(Seq(dataType))
      (a: Any, b: Any) => rows.compare(InternalRow(a), InternalRow(b))
  }

  /** The order used by statistics: for strings the order of the bytes, whatever their collation. */
  def ofStatistics(dataType: DataType): Ordering[Any] = dataType match {
    case _: StringType =>
      (a: Any, b: Any) => a.asInstanceOf[UTF8String].binaryCompare(b.asInstanceOf[UTF8String])
    case NullType => (_: Any, _: Any) => 0
    case other => of(other)
  }
}
