package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

/** One column of a sample: its distinct values in order, how often each was seen, and the NULLs. */
final class SampledColumn private (
    dataType: DataType,
    val nullCount: Long,
    val distinctSorted: Array[Any],
    val counts: Array[Long]) {

  /** Bounds at these of the distinct values; the indices ascend strictly. */
  def boundsAt(indices: Array[Int]): TypedRangeBounds =
    TypedRangeBounds.at(dataType, indices.map(distinctSorted(_)))
}

object SampledColumn {

  def apply(dataType: DataType, rows: Seq[InternalRow], ordinal: Int): SampledColumn = {
    val values =
      rows.iterator.filterNot(_.isNullAt(ordinal)).map(_.get(ordinal, dataType)).toArray[Any]
    val ordering = ValueOrdering.of(dataType)
    java.util.Arrays.sort(
      values.asInstanceOf[Array[AnyRef]],
      ordering.asInstanceOf[Ordering[AnyRef]])
    val distinct = Array.newBuilder[Any]
    val counts = Array.newBuilder[Long]
    var start = 0
    var i = 1
    while (i <= values.length) {
      if (i == values.length || ordering.compare(values(start), values(i)) != 0) {
        distinct += values(start)
        counts += (i - start).toLong
        start = i
      }
      i += 1
    }
    new SampledColumn(
      dataType,
      rows.length.toLong - values.length,
      distinct.result(),
      counts.result())
  }
}
