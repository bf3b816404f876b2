package io.zcube.sql.keys

import scala.util.Try

import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

/** The types of columns by whose values files can be skipped. */
object KeyTypes {

  /** Types with minima and maxima in Delta's log whose equality agrees with their order. This
    * excludes floating point (NaN, and two zeros) and strings with a collation.
    */
  def isOrdered(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType |
        TimestampNTZType | _: DecimalType => true
    case other => other == StringType
  }

  /** Whether equal values are the same, in all of its parts. A string with an indeterminate
    * collation has no collation to check.
    */
  def isExact(dataType: DataType): Boolean =
    Try(UnsafeRowUtils.isBinaryStable(dataType)).getOrElse(false) &&
      !holds(dataType, part => part == FloatType || part == DoubleType)

  /** Whether a type, or one within it, is of the sought kind. */
  private[keys] def holds(dataType: DataType, sought: DataType => Boolean): Boolean =
    sought(dataType) || (dataType match {
      case ArrayType(element, _) => holds(element, sought)
      case MapType(key, value, _) => holds(key, sought) || holds(value, sought)
      case StructType(fields) => fields.exists(field => holds(field.dataType, sought))
      case _ => false
    })
}
