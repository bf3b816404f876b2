package io.zcube.sql.layout

import scala.collection.immutable.ArraySeq

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import io.zcube.sql.predicates.Interval
import io.zcube.sql.sampling.RowSample
import io.zcube.sql.values.{TypedRangeBounds, ValueOrdering}

/** A column of a sample: its distinct values in order, the count of each, and the count of NULLs.
  */
final class SampledColumn private (
    dataType: DataType,
    ordering: Ordering[Any],
    val nullCount: Long,
    val distinctSorted: Array[Any],
    val counts: Array[Long]) {

  /** Bounds at the distinct values with these indexes, which are strictly ascending. */
  def boundsAt(indices: Array[Int]): TypedRangeBounds =
    TypedRangeBounds.at(dataType, indices.map(distinctSorted(_)))

  /** The first and the last bucket with a sampled value in the interval; if there is none, the
    * bucket that a value in it would belong to.
    *
    * @param bounds indexes of the buckets' largest values, as for `boundsAt`
    */
  def bucketsOf(interval: Interval, bounds: Array[Int]): (Int, Int) = {
    val below = interval.lower.fold(0)(end => countBefore(end.value, orEqual = !end.inclusive))
    val upTo =
      interval.upper.fold(distinctSorted.length)(end => countBefore(end.value, end.inclusive))
    val last = math.max(0, distinctSorted.length - 1)
    val low = bucketOf(math.min(below, last), bounds)
    (low, if (upTo > below) bucketOf(upTo - 1, bounds) else low)
  }

  /** The bucket of a distinct value, given its index: the number of buckets that end before it. */
  private def bucketOf(index: Int, bounds: Array[Int]): Int = {
    val at = java.util.Arrays.binarySearch(bounds, index)
    if (at < 0) -at - 1 else at
  }

  /** How many of the distinct values are smaller, or also equal. */
  private def countBefore(value: Any, orEqual: Boolean): Int = {
    var low = 0
    var high = distinctSorted.length
    while (low < high) {
      val middle = (low + high) >>> 1
      val order = ordering.compare(distinctSorted(middle), value)
      if (order < 0 || (orEqual && order == 0)) low = middle + 1 else high = middle
    }
    low
  }
}

object SampledColumn {

  def of(sample: RowSample, ordinal: Int): SampledColumn =
    apply(sample.dataTypes(ordinal), ArraySeq.unsafeWrapArray(sample.rows), ordinal)

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
      ordering,
      rows.length.toLong - values.length,
      distinct.result(),
      counts.result())
  }
}
