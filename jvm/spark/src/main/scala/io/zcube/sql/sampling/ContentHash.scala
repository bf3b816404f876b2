package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, MapEntries, XxHash64}
import org.apache.spark.sql.catalyst.types._
import org.apache.spark.sql.types.{DataType, MapType, UserDefinedType}

/** A hash of a row's contents that doesn't depend on how the row is stored: -0.0 is 0.0, every NaN is one.
  * Spark can't hash maps, so a map is hashed as the list of its entries. Values without a hash are
  * ignored, such as variants, or maps inside other values.
  */
object ContentHash {

  def of(columns: Seq[Expression]): Expression = {
    val hashed = columns.distinct.map {
      case map if map.dataType.isInstanceOf[MapType] => MapEntries(map)
      case other => other
    }.filter(column => hasHash(column.dataType))
    if (hashed.isEmpty) Literal(0L) else new XxHash64(hashed)
  }

  private def hasHash(dataType: DataType): Boolean = dataType match {
    case custom: UserDefinedType[_] => hasHash(custom.sqlType)
    case _ => PhysicalDataType(dataType) match {
        case PhysicalArrayType(element, _) => hasHash(element)
        case PhysicalStructType(fields) => fields.forall(field => hasHash(field.dataType))
        case _: PhysicalPrimitiveType | _: PhysicalNumericType | _: PhysicalStringType |
            PhysicalBinaryType | PhysicalCalendarIntervalType | PhysicalNullType => true
        case _ => false
      }
  }
}
