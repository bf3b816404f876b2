package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.DataType

import io.zcube.sql.errors.ZCubeErrors

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

  /** Fails if too few rows fit into the sample to find boundaries for the files: one file would get
    * nearly all rows.
    *
    * @param columns by the names that users know
    */
  def requireEnough(files: Int, columns: Seq[String]): Unit =
    if (rows.length < math.min(rowCount, files.toLong)) {
      throw ZCubeErrors.sampleTooSmall(columns, rows.length.toLong, files)
    }
}
