package io.zcube.sql.sampling

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType

/** How large a sample may grow.
  *
  * @param rows  most rows
  * @param bytes most bytes on the driver, the cost of keeping each row included
  */
final case class SampleLimits(rows: Int, bytes: Long) {

  /** As many rows of these columns as there may be take no more bytes than this. */
  def bytesOf(dataTypes: Seq[DataType]): Long =
    if (dataTypes.forall(UnsafeRow.isFixedLength)) {
      val row = UnsafeRow.calculateBitSetWidthInBytes(dataTypes.length) + 8L * dataTypes.length
      math.min(bytes, rows * (row + SampleLimits.RowOverhead))
    } else bytes

  /** No more than the driver takes of the tasks of a job. */
  def within(conf: SparkConf): SampleLimits =
    copy(bytes = math.min(bytes, SampleLimits.mostSent(conf) / SampleLimits.Oversampling))
}

object SampleLimits {

  /** What the JVM needs for one kept row beyond its bytes: entry, array header, heap slot. */
  val RowOverhead: Long = 64L

  /** The driver holds no more than this of any sample (64 MiB with what the merge needs). */
  val MostBytes: Long = 48L << 20

  /** Tasks together send up to this many times what the driver keeps, so that uneven ones don't starve
    * the sample.
    */
  val Oversampling: Int = 4

  def ofRows(rows: Int): SampleLimits = SampleLimits(rows, MostBytes)

  /** The tasks of one job may send so much, together: half of what Spark lets them, the rest being for
    * what Spark itself has them report. It fails a job that sends more.
    */
  def mostSent(conf: SparkConf): Long = {
    val all = Oversampling * MostBytes
    val allowed = conf.getSizeAsBytes("spark.driver.maxResultSize", "1g")
    if (allowed <= 0) all else math.min(all, allowed / 2)
  }
}
