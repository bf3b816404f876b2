package io.zcube.planning

import java.util.Arrays

/** Measures extents by how many file boundaries lie in them, and not by the values themselves: so a
  * skewed column, or text, is measured as fairly as an even one.
  */
final class RankSpace private (boundaries: Array[Array[Long]]) {

  /** The share of the box `inner` that lies in `outer`, 0 to 1. An unknown box is everywhere. */
  def overlap(inner: KeyRanges, outer: KeyRanges): Double =
    if (inner.dimensions == 0 || outer.dimensions == 0) 1.0
    else {
      var share = 1.0
      var i = 0
      while (i < boundaries.length && share > 0.0) {
        val low = math.max(inner.lower(i), outer.lower(i))
        val high = math.min(inner.upper(i), outer.upper(i))
        if (low > high) share = 0.0
        // Most files lie wholly inside or outside; a search among a million files' bounds is slow.
        else if (low != inner.lower(i) || high != inner.upper(i))
          share *= width(i, low, high) / width(i, inner.lower(i), inner.upper(i))
        i += 1
      }
      share
    }

  /** How many of the boxes lie over each other on average, in the column where that is least: 1 for
    * boxes side by side, as many as there are if all are the same. Unknown boxes lie over all.
    */
  def depth(boxes: Seq[KeyRanges]): Double =
    if (boxes.exists(_.dimensions == 0) || boundaries.isEmpty) boxes.size.toDouble
    else {
      val around = KeyRanges.union(boxes)
      boundaries.indices.map { i =>
        boxes.map(b => width(i, b.lower(i), b.upper(i))).sum /
          width(i, around.lower(i), around.upper(i))
      }.min
    }

  private def width(column: Int, low: Long, high: Long): Double =
    (below(boundaries(column), high, inclusive = true) -
      below(boundaries(column), low, inclusive = false)).toDouble

  /** How many boundaries are below `value`, or at it too. */
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

  /** Of a table with these files. Boxes measured in it must have a boundary of some file at each of
    * their sides, as unions of files' boxes have.
    */
  def of(files: Iterable[DataFile]): RankSpace = {
    val known = files.iterator.map(_.ranges).filter(_.dimensions > 0).toArray
    val dimensions = known.headOption.fold(0)(_.dimensions)
    new RankSpace(Array.tabulate(dimensions) { i =>
      val values = new Array[Long](known.length * 2)
      known.indices.foreach { k =>
        values(2 * k) = known(k).lower(i)
        values(2 * k + 1) = known(k).upper(i)
      }
      Arrays.parallelSort(values)
      values
    })
  }
}
