package io.zcube.sql.simulation

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import io.zcube.sql.sampling.RowSample
import io.zcube.sql.values.ValueOrdering

/** The statistics that a file would have if a layout were written, estimated from a sample.
  *
  * Its ranges are those of the sampled rows, so they are slightly too small: with n sampled rows out of
  * many, each side is short by about 1 / (n + 1) of the file's width in a column with many values,
  * and mostly exact if values repeat. For queries of what few rows have, see [[ReadingChance]].
  *
  * @param rows  sampled rows in the file
  * @param lower the smallest value of each sampled column, null if all are NULL; Catalyst's own form
  * @param upper the largest value of each
  * @param nulls number of sampled rows with NULL, for each column
  */
final case class SimulatedFile(
    rows: Long,
    lower: IndexedSeq[Any],
    upper: IndexedSeq[Any],
    nulls: IndexedSeq[Long])

object SimulatedFile {

  /** The files of sampled rows; files without sampled rows are omitted.
    *
    * @param files the number of each row's file, as returned by [[LayoutPlan.filesOf]]
    */
  def of(sample: RowSample, files: Array[Int]): Seq[SimulatedFile] = {
    val orders = sample.dataTypes.map(ValueOrdering.ofStatistics)
    sample.rows.indices.groupBy(files(_)).toSeq.sortBy(_._1).map { case (_, members) =>
      val ranges = sample.dataTypes.indices.map { column =>
        rangeOf(members.map(sample.rows(_)), column, sample.dataTypes(column), orders(column))
      }
      SimulatedFile(members.length.toLong, ranges.map(_._1), ranges.map(_._2), ranges.map(_._3))
    }
  }

  private def rangeOf(
      rows: Seq[InternalRow],
      column: Int,
      dataType: DataType,
      order: Ordering[Any]): (Any, Any, Long) = {
    var low: Any = null
    var high: Any = null
    var nulls = 0L
    rows.foreach { row =>
      if (row.isNullAt(column)) nulls += 1
      else {
        val value = row.get(column, dataType)
        if (low == null || order.compare(value, low) < 0) low = value
        if (high == null || order.compare(value, high) > 0) high = value
      }
    }
    (low, high, nulls)
  }
}
