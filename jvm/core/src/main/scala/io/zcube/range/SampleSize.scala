package io.zcube.range

/** The number of rows to sample for `n` ranges of nearly equal weight.
  *
  * A range with k sampled rows has a true weight within about 1/√k of the desired one, so 100 rows
  * per range give an error of a tenth. The number is bounded on both sides: small requests get
  * enough rows to be exact on small data, and large ones no more than the driver can hold. 2^20
  * ranges get one row each, which is exact as long as there are no more rows than that.
  */
object SampleSize {
  val rowsPerRange: Int = 100
  val minRows: Int = 10000
  val maxRows: Int = 1 << 20

  /** {{{forRanges(10) == 10000; forRanges(1000) == 100000; forRanges(1 << 20) == 1048576}}}
    *
    * @param ranges the number of ranges wanted, at least 1
    */
  def forRanges(ranges: Int): Int = {
    require(ranges >= 1, s"the number of ranges must be at least 1, but is $ranges")
    math.max(minRows.toLong, math.min(maxRows.toLong, ranges.toLong * rowsPerRange)).toInt
  }
}
