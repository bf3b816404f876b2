package io.zcube.planning

/** The closed intervals of a file's values, one for each clustering column, as numbers that sort
  * like the values. Values may be rounded, but an interval is never smaller than the true one.
  *
  * @param lower for each column; `Long.MinValue` where unknown
  * @param upper for each column; `Long.MaxValue` where unknown
  */
final class KeyRanges(val lower: Array[Long], val upper: Array[Long]) {
  require(lower.length == upper.length, "as many lower as upper bounds")

  def dimensions: Int = lower.length
}

object KeyRanges {

  /** The ranges of a file without statistics, which may hold anything. */
  val Unknown = new KeyRanges(Array.empty, Array.empty)

  /** The bounding box of all of them; unknown if one is. */
  def union(all: Iterable[KeyRanges]): KeyRanges = {
    val dimensions = all.headOption.fold(0)(_.dimensions)
    if (all.exists(_.dimensions != dimensions) || dimensions == 0) {
      Unknown
    } else {
      new KeyRanges(
        Array.tabulate(dimensions)(i => all.iterator.map(_.lower(i)).min),
        Array.tabulate(dimensions)(i => all.iterator.map(_.upper(i)).max))
    }
  }
}
