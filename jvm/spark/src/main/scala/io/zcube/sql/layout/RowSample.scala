package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

/** A uniform sample of rows.
  *
  * @param dataTypes types of the sampled columns
  * @param rows      the sampled rows, in an order that depends on the data alone
  * @param rowCount  how many rows were seen
  * @param complete  whether every row seen is in the sample
  */
final case class RowSample(
    dataTypes: Seq[DataType],
    rows: Array[InternalRow],
    rowCount: Long,
    complete: Boolean)
