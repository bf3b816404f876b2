package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import io.zcube.quality.FileRanges
import io.zcube.sql.values.{LongKey, ValueOrdering}

/** One column's minima and maxima in the log, and what is missing of them.
  *
  * @param onlyNulls files that hold nothing but NULL in the column
  * @param noMinimum files without a minimum, those of NULLs only left out
  * @param noMaximum files with a minimum, but without a maximum
  * @param inverted  files whose maximum is below their minimum, which tells nothing
  */
final case class ColumnMinMax(
    ranges: FileRanges,
    onlyNulls: Int,
    noMinimum: Int,
    noMaximum: Int,
    inverted: Int)

object ColumnMinMax {

  /** Of rows that describe a file each.
    *
    * @param dataType of minima and maxima, at the places `low` and `high` of a row
    * @param nulls    place of the number of NULLs
    * @param count    place of the number of rows
    */
  def of(
      rows: Array[InternalRow],
      dataType: DataType,
      low: Int,
      high: Int,
      nulls: Int,
      count: Int): ColumnMinMax = {
    // Both counts are physical: a deletion vector doesn't make them differ.
    def onlyNulls(row: InternalRow): Boolean =
      !row.isNullAt(nulls) && !row.isNullAt(count) && row.getLong(nulls) == row.getLong(count)
    val kinds = rows.map { row =>
      if (row.isNullAt(low) && row.isNullAt(high) && onlyNulls(row)) FileRanges.OnlyNulls
      else if (row.isNullAt(low) || row.isNullAt(high)) FileRanges.Unknown
      else FileRanges.Known
    }
    val ranges = LongKey.find(dataType) match {
      case Some(key) =>
        def keys(at: Int): Array[Long] =
          rows.map(row => if (row.isNullAt(at)) 0L else key.of(row.get(at, dataType)))
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
