package io.zcube.sql.layout

/** How large a sample may grow.
  *
  * @param rows  most rows
  * @param bytes most bytes on the driver, the cost of keeping each row included
  */
final case class SampleLimits(rows: Int, bytes: Long)

object SampleLimits {

  /** What the JVM needs for one kept row beyond its bytes: entry, array header, heap slot. */
  val RowOverhead: Long = 64L

  /** The driver holds no more than this of any sample (64 MiB with what the merge needs). */
  val MostBytes: Long = 48L << 20

  def ofRows(rows: Int): SampleLimits = SampleLimits(rows, MostBytes)
}
