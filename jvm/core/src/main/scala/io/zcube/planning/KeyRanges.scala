package io.zcube.planning

/** The closed intervals of a file's values, one for each clustering column, as numbers that sort
  * like the values. Values may be rounded, but an interval is never smaller than the true one.
  *
  * A column with only NULLs has an empty interval, `KeyRanges.NoLower` to `KeyRanges.NoUpper`: no
  * query for values of it reads the file.
  *
  * @param lower for each column; `Long.MinValue` where unknown
  * @param upper for each column; `Long.MaxValue` where unknown
  */
final class KeyRanges(val lower: Array[Long], val upper: Array[Long]) {
  require(lower.length == upper.length, "as many lower as upper bounds")

  def dimensions: Int = lower.length

  /** Whether the file has only NULLs in a column. */
  def isEmpty(column: Int): Boolean = column < lower.length && lower(column) > upper(column)

  /** The columns in which the file has only NULLs. */
  private def empty: Seq[Int] = lower.indices.filter(isEmpty)

  private def hasEmpty: Boolean = lower.indices.exists(isEmpty)

  /** Whether it has only NULLs in each column, so that it overlaps no other file. */
  def isNull: Boolean = dimensions > 0 && lower.indices.forall(isEmpty)
}

object KeyRanges {

  /** The ranges of a file without statistics, which may hold anything. */
  val Unknown = new KeyRanges(Array.empty, Array.empty)

  /** The bounds of a column with only NULLs. They don't change the minimum or the maximum of others. */
  final val NoLower: Long = Long.MaxValue
  final val NoUpper: Long = Long.MinValue

  /** The bounding box of all of them; unknown if one is. NULLs are in no box: a column's interval is
    * empty only if all of them are.
    */
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

  /** Divides files by the columns in which they have only NULLs. Two files may overlap if these are the
    * same, in the other columns.
    */
  private[planning] def byNulls[T](all: Seq[T])(ranges: T => KeyRanges): Seq[Seq[T]] =
    if (all.exists(ranges(_).hasEmpty)) all.groupBy(ranges(_).empty).values.toSeq else Seq(all)
}
