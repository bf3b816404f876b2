package org.apache.spark.sql.delta.zcube.write

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.util.SQLOrderingUtil
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** The smallest and the largest value and the number of NULLs of a file's column, in the order of
  * Spark's `min` and `max`.
  *
  * @param ordinal the column's ordinal
  */
sealed abstract class ColumnStats(ordinal: Int) {
  private var rows = 0L
  private var nullRows = 0L

  /** Adds a row, without keeping a reference to it. */
  final def add(row: InternalRow): Unit =
    if (row.isNullAt(ordinal)) nullRows += 1
    else {
      addValue(row, isFirst = rows == 0)
      rows += 1
    }

  /** A sum over the rows: null if there were none. */
  final def nulls: Any = if (rows + nullRows == 0) null else nullRows

  /** In Catalyst's internal form; null if all values are NULL. */
  final def min: Any = if (rows == 0) null else minValue
  final def max: Any = if (rows == 0) null else maxValue

  protected def addValue(row: InternalRow, isFirst: Boolean): Unit
  protected def minValue: Any
  protected def maxValue: Any
}

object ColumnStats {

  /** Whether columns of this type have statistics here. */
  def supports(dataType: DataType): Boolean = make(dataType, 0).isDefined

  def of(dataType: DataType, ordinal: Int): ColumnStats = make(dataType, ordinal).get

  private def make(dataType: DataType, ordinal: Int): Option[ColumnStats] = dataType match {
    case LongType | TimestampType | TimestampNTZType => Some(new OfLong(ordinal))
    case IntegerType | DateType => Some(new OfInt(ordinal))
    case DoubleType => Some(new OfDouble(ordinal))
    case decimal: DecimalType if decimal.precision <= Decimal.MAX_LONG_DIGITS =>
      Some(new OfDecimal(ordinal, decimal))
    // Only with the default collation; others have a different order.
    case StringType => Some(new OfText(ordinal))
    case _ => None
  }

  /** Types that are compared as integers. */
  sealed abstract private class OfWhole(ordinal: Int) extends ColumnStats(ordinal) {
    private var low, high = 0L
    protected def read(row: InternalRow): Long
    protected def valueOf(number: Long): Any
    final override protected def addValue(row: InternalRow, isFirst: Boolean): Unit = {
      val number = read(row)
      if (isFirst || number < low) low = number
      if (isFirst || number > high) high = number
    }
    final override protected def minValue: Any = valueOf(low)
    final override protected def maxValue: Any = valueOf(high)
  }

  final private class OfLong(ordinal: Int) extends OfWhole(ordinal) {
    override protected def read(row: InternalRow): Long = row.getLong(ordinal)
    override protected def valueOf(number: Long): Any = number
  }

  final private class OfInt(ordinal: Int) extends OfWhole(ordinal) {
    override protected def read(row: InternalRow): Long = row.getInt(ordinal).toLong
    override protected def valueOf(number: Long): Any = number.toInt
  }

  /** Compares only the unscaled value, which an UnsafeRow stores in eight bytes. */
  final private class OfDecimal(ordinal: Int, decimal: DecimalType) extends OfWhole(ordinal) {
    override protected def read(row: InternalRow): Long =
      if (row.isInstanceOf[UnsafeRow]) row.getLong(ordinal)
      else row.getDecimal(ordinal, decimal.precision, decimal.scale).toUnscaledLong
    override protected def valueOf(number: Long): Any =
      Decimal.createUnsafe(number, decimal.precision, decimal.scale)
  }

  final private class OfDouble(ordinal: Int) extends ColumnStats(ordinal) {
    private var low, high = 0.0
    override protected def addValue(row: InternalRow, isFirst: Boolean): Unit = {
      val value = row.getDouble(ordinal)
      // NaN is the largest, and -0.0 equals 0.0.
      if (isFirst || SQLOrderingUtil.compareDoubles(low, value) > 0) low = value
      if (isFirst || SQLOrderingUtil.compareDoubles(high, value) < 0) high = value
    }
    override protected def minValue: Any = low
    override protected def maxValue: Any = high
  }

  final private class OfText(ordinal: Int) extends ColumnStats(ordinal) {
    private var low, high: UTF8String = _
    override protected def addValue(row: InternalRow, isFirst: Boolean): Unit = {
      val value = row.getUTF8String(ordinal)
      // Copied only when it becomes the new extreme, because the row's memory is reused.
      if (isFirst) {
        low = value.copy()
        high = low
      } else if (value.binaryCompare(low) < 0) low = value.copy()
      else if (value.binaryCompare(high) > 0) high = value.copy()
    }
    override protected def minValue: Any = low
    override protected def maxValue: Any = high
  }
}
