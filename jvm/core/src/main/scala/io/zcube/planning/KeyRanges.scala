package io.zcube.planning

/** The closed intervals that a file's values lie in, one for each clustering column, as numbers that
  * sort as the values do. Values may be rounded: an interval never is smaller than the true one.
  *
  * @param lower for each column; `Long.MinValue` where unknown
  * @param upper for each column; `Long.MaxValue` where unknown
  */
final class KeyRanges(val lower: Array[Long], val upper: Array[Long]) {
  require(lower.length == upper.length, "as many lower as upper bounds")

  def dimensions: Int = lower.length
}

object KeyRanges {

  /** Of a file without statistics: it may hold anything. */
  val Unknown = new KeyRanges(Array.empty, Array.empty)

  /** The smallest box around all of them; unknown if one is. */
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
