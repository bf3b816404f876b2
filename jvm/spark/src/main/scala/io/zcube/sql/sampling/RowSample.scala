package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

/** A uniform sample of rows.
  *
  * @param dataTypes types of the sampled columns
  * @param rows      the sampled rows, in an order that depends only on the data
  * @param rowCount  the number of rows seen
  * @param complete  whether every row seen is in the sample
  */
final case class RowSample(
    dataTypes: Seq[DataType],
    rows: Array[InternalRow],
    rowCount: Long,
    complete: Boolean) {

  /** Whether enough rows fit into the sample to find boundaries between this many parts. If not, one
    * part would get nearly all rows.
    */
  def isEnoughFor(parts: Int): Boolean = rows.length >= math.min(rowCount, parts.toLong)
}
