package io.zcube.planning

import java.util.Arrays

/** Measures ranges by the number of file boundaries in them and not by the values, so that skewed
  * columns and strings are measured as fairly as uniform ones.
  */
final class RankSpace private (boundaries: Array[Array[Long]]) {

  /** The share of the box `inner` that is inside `outer`, 0 to 1. An unknown box covers everything.
    * Of two boxes with only NULLs in some columns, the other columns decide. A box with only NULLs
    * doesn't overlap any. Nor do boxes that have only one point in common: its rows may fill more than
    * a file, and no layout brings them into one. Rewriting such files would make the same again, or let
    * two cubes exchange them for ever.
    */
  def overlap(inner: KeyRanges, outer: KeyRanges): Double =
    if (inner.dimensions == 0 || outer.dimensions == 0) 1.0
    else if (inner.isNull) 0.0
    else {
      var share = 1.0
      var isPoint = true
      var i = 0
      while (i < boundaries.length && share > 0.0) {
        val low = math.max(inner.lower(i), outer.lower(i))
        val high = math.min(inner.upper(i), outer.upper(i))
        if (low > high) share = if (inner.isEmpty(i) && outer.isEmpty(i)) share else 0.0
        // Most files are entirely inside or outside, and a search among a million files' bounds is
        // slow.
        else if (low != inner.lower(i) || high != inner.upper(i))
          share *= width(i, low, high) / width(i, inner.lower(i), inner.upper(i))
        if (low < high) isPoint = false
        i += 1
      }
      if (isPoint) 0.0 else share
    }

  /** The average depth of overlapping boxes, in the column where it is smallest: 1 for disjoint
    * boxes, the number of boxes if all are equal. Unknown boxes overlap all others. Of boxes with only
    * NULLs in some columns, those with the same such columns are measured by the others; the largest
    * depth counts.
    */
  def depth(boxes: Seq[KeyRanges]): Double =
    if (boxes.exists(_.dimensions == 0) || boundaries.isEmpty) boxes.size.toDouble
    else KeyRanges.byNulls(boxes)(identity).map(depthOfAlike).maxOption.getOrElse(1.0)

  /** @param boxes with only NULLs in the same columns */
  private def depthOfAlike(boxes: Seq[KeyRanges]): Double = {
    val around = KeyRanges.union(boxes)
    boundaries.indices.filterNot(around.isEmpty).map { i =>
      boxes.map(b => width(i, b.lower(i), b.upper(i))).sum /
        width(i, around.lower(i), around.upper(i))
    }.minOption.getOrElse(1.0)
  }

  /** The columns in which a file has values. */
  private val valued: Array[Int] = boundaries.indices.filter(boundaries(_).nonEmpty).toArray

  def dimensions: Int = valued.length

  /** Whether a box has as many columns as the files, so that it can be measured. */
  def measures(box: KeyRanges): Boolean = box.dimensions == boundaries.length

  /** The lower and upper ends of a known box in columns in which files have values, as shares of the
    * boundaries, 0 to 1.
    */
  def ranks(box: KeyRanges): (Array[Double], Array[Double]) = {
    def shares(values: Array[Long], inclusive: Boolean): Array[Double] =
      valued.map { i =>
        below(boundaries(i), values(i), inclusive).toDouble / boundaries(i).length
      }
    (shares(box.lower, inclusive = false), shares(box.upper, inclusive = true))
  }

  private def width(column: Int, low: Long, high: Long): Double =
    (below(boundaries(column), high, inclusive = true) -
      below(boundaries(column), low, inclusive = false)).toDouble

  /** How many boundaries are below `value`, or equal to it too. */
  private def below(sorted: Array[Long], value: Long, inclusive: Boolean): Int = {
    var low = 0
    var high = sorted.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (sorted(middle) < value || (inclusive && sorted(middle) == value)) low = middle + 1
      else high = middle
    }
    low
  }
}

object RankSpace {

  /** What overlaps less than this share counts as disjoint. */
  val MinOverlap = 0.05

  /** The space of a table with these files. Each side of a measured box must be a boundary of some
    * file, as it is for unions of files' boxes.
    */
  def of(files: Iterable[DataFile]): RankSpace = {
    val known = files.iterator.map(_.ranges).filter(_.dimensions > 0).toArray
    val dimensions = known.headOption.fold(0)(_.dimensions)
    new RankSpace(Array.tabulate(dimensions) { i =>
      val some = if (known.exists(_.isEmpty(i))) known.filterNot(_.isEmpty(i)) else known
      val values = new Array[Long](some.length * 2)
      some.indices.foreach { k =>
        values(2 * k) = some(k).lower(i)
        values(2 * k + 1) = some(k).upper(i)
      }
      Arrays.parallelSort(values)
      values
    })
  }
}
