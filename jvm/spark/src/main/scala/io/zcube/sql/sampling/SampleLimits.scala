package io.zcube.sql.sampling

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.DataType

/** Limits for the size of a sample.
  *
  * @param rows  maximum number of rows
  * @param bytes maximum bytes on the driver, including the cost of keeping each row
  */
final case class SampleLimits(rows: Int, bytes: Long) {

  /** The maximum number of rows of these columns takes at most this many bytes. */
  def bytesOf(dataTypes: Seq[DataType]): Long =
    if (dataTypes.forall(UnsafeRow.isFixedLength)) {
      val row = UnsafeRow.calculateBitSetWidthInBytes(dataTypes.length) + 8L * dataTypes.length
      math.min(bytes, rows * (row + SampleLimits.RowOverhead))
    } else bytes

  /** At most what the driver accepts from the tasks of a job. */
  def within(conf: SparkConf): SampleLimits =
    copy(bytes = math.min(bytes, SampleLimits.maxSent(conf) / SampleLimits.Oversampling))
}

object SampleLimits {

  /** The JVM's overhead for a kept row: entry, array header, heap slot. */
  val RowOverhead: Long = 64L

  /** The driver holds at most this much of any sample (64 MiB with the merge). */
  val MaxBytes: Long = 48L << 20

  /** Tasks together send up to this many times what the driver keeps, so that uneven tasks don't
    * make the sample too small.
    */
  val Oversampling: Int = 4

  def ofRows(rows: Int): SampleLimits = SampleLimits(rows, MaxBytes)

  /** If there are very many tasks, each may send this much: a share of what they usually send would
    * be a few rows, and some tasks have several times as many of the sample as the average.
    */
  private val MinBytesOfTask = 8L << 10

  /** The tasks of one job together may send this much. */
  def maxSent(conf: SparkConf): Long = math.min(Oversampling * MaxBytes, acceptedOf(conf))

  /** What each of these tasks may send, if nothing is known about their rows. */
  def sentByEach(conf: SparkConf, tasks: Int): Long =
    math.max(maxSent(conf) / tasks, math.min(MinBytesOfTask, acceptedOf(conf) / tasks))

  /** Half of what Spark allows, with the rest for Spark's own task results. Spark fails a job that
    * sends more.
    */
  private def acceptedOf(conf: SparkConf): Long = {
    val allowed = conf.getSizeAsBytes("spark.driver.maxResultSize", "1g")
    (if (allowed <= 0) 1L << 30 else allowed) / 2
  }
}
