package io.zcube.range

import scala.collection.mutable

/** Divides ascending distinct values into at most `n` ranges of nearly equal weight.
  *
  * It sees only how often each value occurs, so it serves every type. The values
  * (0, 1, 3, 15, 36, 99), each once, in 3 ranges end at the indices 1 and 3: (0, 1), (3, 15),
  * (36, 99).
  *
  * One pass, each range aiming at an equal share of the weight that is left. It ends where it is
  * nearest to that share, so a too-frequent value stands in a range of its own when it can, and what
  * one range takes too much or too little is shared out among all that follow. While no more
  * values are left than ranges, each value gets its own: no range is wasted, and ids have no gaps.
  */
object EqualWeightRanges {

  /** The indices of the values that end a range, ascending. The last range's end is left out, as it
    * bounds nothing.
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
      // Nearer to the share without the next value than with it (a tie takes it in).
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
