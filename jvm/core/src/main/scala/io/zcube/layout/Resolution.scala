package io.zcube.layout

/** How many bits of rank each column gets. */
object Resolution {

  /** Keys are non-negative longs. */
  private val KeyBits = 63

  /** More ranks than sampled values would only cost time. */
  private val MaxBits = 16

  /** Delta's default of 1000 range ids, as bits. */
  private val MinBits = 10

  /** Ranks that a file spans along the curve, as bits, so that rows inside a file are ordered. */
  private val BitsInsideFile = 10

  /** The maximum number of columns in a key. */
  val MaxColumns: Int = KeyBits

  /** Bits for each of `columns` columns when `files` files are wanted: enough to distinguish about
    * 1000 positions inside each file, and at least Delta's resolution, as far as 63 bits allow.
    *
    * @param ranks number of ranks for each column, if set by the user
    *   (`spark.databricks.io.skipping.mdc.rangeId.max`)
    */
  def bits(columns: Int, files: Int, ranks: Option[Int]): Int = {
    val wanted = ranks.map(bitsFor).getOrElse {
      val spread = (bitsFor(files) + BitsInsideFile + columns - 1) / columns
      math.min(MaxBits, math.max(MinBits, spread))
    }
    math.max(1, math.min(wanted, KeyBits / columns))
  }

  /** Bits for each column if files are boxes and ranks needn't fit into a key: two more than for a
    * curve, so that a cut comes close to its even position.
    */
  def boxBits(columns: Int, files: Int, ranks: Option[Int]): Int =
    ranks.fold(math.min(MaxBits, bits(math.min(columns, 6), files, None) + 2))(bitsFor)

  /** The number of ranks on the scale of a column with that many bits; exactly the user's number if
    * it fits.
    */
  def scale(bits: Int, ranks: Option[Int]): Int = {
    val maxRanks = 1L << bits
    math.min(ranks.fold(maxRanks)(r => math.min(maxRanks, r.toLong)), Int.MaxValue.toLong).toInt
  }

  /** Bits needed for the numbers 0 to n - 1, at least 1. */
  private def bitsFor(n: Int): Int = math.max(1, 32 - Integer.numberOfLeadingZeros(n - 1))
}
