package io.zcube.layout

/** How many bits of rank each column gets. */
object Resolution {

  /** Keys are non-negative longs. */
  private val KeyBits = 63

  /** More ranks than sampled values would only cost time. */
  private val MostBits = 16

  /** Delta's default of 1000 range ids, as bits. */
  private val LeastBits = 10

  /** Ranks that one file spans along the curve, as bits, so that rows inside a file are in order. */
  private val BitsInsideFile = 10

  /** The most columns that a key has room for. */
  val MostColumns: Int = KeyBits

  /** Bits for each of `columns` columns when `files` files are wanted: enough to tell some 1000
    * places inside each file apart, at least the resolution that Delta has, as far as 63 bits go.
    *
    * @param ranges ranges for each column as the user set them
    *               (`spark.databricks.io.skipping.mdc.rangeId.max`), if so
    */
  def bits(columns: Int, files: Int, ranges: Option[Int]): Int = {
    val wanted = ranges.map(bitsFor).getOrElse {
      val spread = (bitsFor(files) + BitsInsideFile + columns - 1) / columns
      math.min(MostBits, math.max(LeastBits, spread))
    }
    math.max(1, math.min(wanted, KeyBits / columns))
  }

  /** Bits for each column where files are boxes and ranks needn't fit into a key: as many as a curve
    * over them has and two more, so that a cut comes near its even place.
    */
  def boxBits(columns: Int, files: Int, ranges: Option[Int]): Int =
    ranges.fold(math.min(MostBits, bits(math.min(columns, 6), files, None) + 2))(bitsFor)

  /** Ranks on the scale of a column with that many bits; exactly the user's number if it fits. */
  def scale(bits: Int, ranges: Option[Int]): Int = {
    val most = 1L << bits
    math.min(ranges.fold(most)(r => math.min(most, r.toLong)), Int.MaxValue.toLong).toInt
  }

  /** Bits that numbers 0 to n - 1 need, at least 1. */
  private def bitsFor(n: Int): Int = math.max(1, 32 - Integer.numberOfLeadingZeros(n - 1))
}
