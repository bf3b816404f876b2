package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import io.zcube.quality.FileRanges
import io.zcube.sql.values.{LongKey, ValueOrdering}

/** A column's minima and maxima in the log, and counts of missing ones.
  *
  * @param onlyNulls files with only NULLs in the column
  * @param noMinimum files without a minimum, except those with only NULLs
  * @param noMaximum files with a minimum, but without a maximum
  * @param inverted  files whose maximum is below their minimum, which is useless
  */
final case class ColumnMinMax(
    ranges: FileRanges,
    onlyNulls: Int,
    noMinimum: Int,
    noMaximum: Int,
    inverted: Int)

object ColumnMinMax {

  /** Whether a file has only NULLs in a column, or no rows. Both counts include deleted rows, so a deletion
    * vector doesn't make them differ.
    *
    * @param low,high,nulls,rows ordinals of these statistics
    */
  def hasOnlyNulls(file: InternalRow, low: Int, high: Int, nulls: Int, rows: Int): Boolean =
    file.isNullAt(low) && file.isNullAt(high) && !file.isNullAt(nulls) && !file.isNullAt(rows) &&
      file.getLong(nulls) == file.getLong(rows)

  /** From rows that each describe a file.
    *
    * @param dataType type of minima and maxima, at the ordinals `low` and `high` of a row
    * @param nulls    ordinal of the number of NULLs
    * @param count    ordinal of the number of rows
    */
  def of(
      rows: Array[InternalRow],
      dataType: DataType,
      low: Int,
      high: Int,
      nulls: Int,
      count: Int): ColumnMinMax = {
    val kinds = rows.map { row =>
      if (hasOnlyNulls(row, low, high, nulls, count)) FileRanges.OnlyNulls
      else if (row.isNullAt(low) || row.isNullAt(high)) FileRanges.Unknown
      else FileRanges.Known
    }
    val ranges = LongKey.find(dataType) match {
      case Some(key) =>
        def keys(at: Int): Array[Long] =
          rows.map(row => if (row.isNullAt(at)) 0L else key.numberOf(row.get(at, dataType)))
        FileRanges.ofLongs(kinds, keys(low), keys(high))
      case None =>
        def values(at: Int): Array[AnyRef] = rows.map(_.get(at, dataType))
        val order = ValueOrdering.ofStatistics(dataType)
        FileRanges.of(kinds, values(low), values(high), (a, b) => order.compare(a, b))
    }
    ColumnMinMax(
      ranges,
      kinds.count(_ == FileRanges.OnlyNulls),
      rows.indices.count(i => rows(i).isNullAt(low) && kinds(i) != FileRanges.OnlyNulls),
      rows.count(row => !row.isNullAt(low) && row.isNullAt(high)),
      kinds.indices.count(i => kinds(i) == FileRanges.Known && !ranges.isKnown(i))
    )
  }
}
