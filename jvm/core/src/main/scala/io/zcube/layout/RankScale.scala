package io.zcube.layout

/** Turns the values of a column into ranks on a scale of `scale` steps, each holding about the same
  * number of rows.
  *
  * A rank is a position in the distribution, not a running number of distinct values: a value that
  * covers a fifth of the rows covers a fifth of the scale. So a column with three values splits the
  * space at its highest bits, as a column with a million values does, instead of affecting only the
  * lowest bits of a curve.
  *
  * Example: values `a, a, b, c` (counts 2, 1, 1), scale 4: `a` sits in the middle of [0, 2), rank 1;
  * `b` in [2, 3), rank 2; `c` rank 3.
  *
  * NULL has rank 0, below every value; the values start where the NULLs end.
  *
  * @param boundIndices for each bucket but the last, the index of its largest distinct value
  * @param ranks        rank of each bucket, ascending, `boundIndices.length + 1` long
  *                     (empty sample: one bucket)
  */
final case class RankScale(boundIndices: Array[Int], ranks: Array[Int])

object RankScale {

  /** @param counts rows of the sample for each distinct value, values ascending
    * @param nulls  rows of the sample with NULL
    * @param scale  number of ranks, 1 to 2^31 - 1
    */
  def of(counts: Array[Long], nulls: Long, scale: Int): RankScale = {
    require(scale >= 1, s"scale must be positive, not $scale")
    if (counts.isEmpty) {
      RankScale(Array.emptyIntArray, Array(0))
    } else {
      val total = (nulls + counts.sum).toDouble
      val rankOfValue = new Array[Int](counts.length)
      var before = nulls
      var i = 0
      while (i < counts.length) {
        val middle = (before + counts(i) / 2.0) / total
        rankOfValue(i) = math.min(scale - 1, (middle * scale).toInt)
        before += counts(i)
        i += 1
      }
      val ends = counts.indices.init.filter(v => rankOfValue(v) != rankOfValue(v + 1)).toArray
      RankScale(ends, ends.map(rankOfValue) :+ rankOfValue.last)
    }
  }
}
