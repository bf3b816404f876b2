package io.zcube.range

import scala.collection.mutable

/** Divides ascending distinct values into at most `n` ranges of nearly equal weight.
  *
  * It uses only the number of occurrences of each value, so it works for every type. The values (0,
  * 1, 3, 15, 36, 99), each once, in 3 ranges end at the indices 1 and 3: (0, 1), (3, 15), (36, 99).
  *
  * It makes one pass, and each range aims at an equal share of the remaining weight. A range ends
  * where it is closest to that share, so a too frequent value gets a separate range if possible,
  * and the excess or deficit of a range is divided among all that follow. Once there are no more
  * values than ranges left, each value gets its own range: no range is wasted, and ids have no
  * gaps.
  */
object EqualWeightRanges {

  /** The indices of the values that end a range, ascending. The last range's end is omitted,
    * because it bounds nothing.
    *
    * @param counts how often each value occurs in ascending order of the values, each at least 1
    * @param ranges the number of ranges wanted, at least 1
    */
  def ends(counts: Array[Long], ranges: Int): Array[Int] = {
    require(ranges >= 1, s"the number of ranges must be at least 1, but is $ranges")
    val result = mutable.ArrayBuilder.make[Int]
    var weightLeft = counts.sum.toDouble
    var rangesLeft = ranges
    var weight = 0d
    var i = 0
    while (rangesLeft > 1 && i + 1 < counts.length) {
      weight += counts(i).toDouble
      val valuesLeft = counts.length - (i + 1)
      val share = weightLeft / rangesLeft
      // Closer to the share without the next value than with it (a tie includes it).
      val full = 2 * weight + counts(i + 1).toDouble > 2 * share
      if (full || valuesLeft < rangesLeft) {
        result += i
        weightLeft -= weight
        rangesLeft -= 1
        weight = 0d
      }
      i += 1
    }
    result.result()
  }
}
