package io.zcube.quality

import java.util.function.IntPredicate
import java.util.stream.IntStream
import java.util.{Arrays, Comparator}

/** The closed intervals [min, max] of one column, one for each file, as ranks: positions of a value
  * among all distinct minima and maxima. Ranks compare like the values, so intervals of values can
  * be represented by intervals of ranks, with two `Int`s per file.
  *
  * Example: files [10, 20], [20, 35] and one without statistics are, with the ranks 10 → 0, 20 → 1,
  * 35 → 2, the intervals [0, 1], [1, 2] and [`Int.MinValue`, `Int.MaxValue`], which overlaps all.
  *
  * A file with only NULLs has no value at all. Its interval is empty, [`Int.MaxValue`,
  * `Int.MinValue`]: it contains no point, and no comparison makes a reader open the file.
  *
  * @param distinct the number of distinct minima and maxima
  */
final class FileRanges private (
    private[quality] val lower: Array[Int],
    private[quality] val upper: Array[Int],
    private[quality] val distinct: Int) {

  def files: Int = lower.length

  /** Whether the file has a minimum and a maximum. */
  def isKnown(file: Int): Boolean = !isUnknown(file) && !isEmpty(file)

  private[quality] def isUnknown(file: Int): Boolean = lower(file) == Int.MinValue

  private[quality] def isEmpty(file: Int): Boolean = lower(file) == Int.MaxValue

  /** Whether the file has a single value, according to its statistics. */
  def isConstant(file: Int): Boolean = isKnown(file) && lower(file) == upper(file)
}

object FileRanges {

  /** A file with a minimum and a maximum. */
  final val Known: Byte = 0

  /** A file that may hold anything. */
  final val Unknown: Byte = 1

  /** A file with only NULLs, or without rows. */
  final val OnlyNulls: Byte = 2

  /** From values that are numbers, or from keys that sort like the values.
    *
    * @param kinds `Known`, `Unknown` or `OnlyNulls`, for each file
    * @param lower minima; used where known
    * @param upper maxima; a maximum below its minimum makes its file unknown
    */
  def ofLongs(kinds: Array[Byte], lower: Array[Long], upper: Array[Long]): FileRanges = {
    val known = filesWhere(kinds.length)(i => kinds(i) == Known && lower(i) <= upper(i))
    def value(end: Int): Long =
      if (isLower(end)) lower(known(fileOf(end))) else upper(known(fileOf(end)))
    val ends = SortedIndexes.of(Array.range(0, 2 * known.length), end => value(end))
    of(kinds, known, ends)((a, b) => value(a) == value(b))
  }

  /** The same for any values, such as strings.
    *
    * @param order the order that determined minima and maxima
    */
  def of[T <: AnyRef](
      kinds: Array[Byte],
      lower: Array[T],
      upper: Array[T],
      order: Comparator[AnyRef]): FileRanges = {
    val known =
      filesWhere(kinds.length)(i => kinds(i) == Known && order.compare(lower(i), upper(i)) <= 0)
    def value(end: Int): T =
      if (isLower(end)) lower(known(fileOf(end))) else upper(known(fileOf(end)))
    val ends = Array.tabulate(2 * known.length)(Integer.valueOf)
    Arrays.parallelSort(
      ends,
      (a: Integer, b: Integer) => order.compare(value(a), value(b)))
    of(kinds, known, ends.map(_.intValue))((a, b) => order.compare(value(a), value(b)) == 0)
  }

  private def filesWhere(files: Int)(isWanted: IntPredicate): Array[Int] =
    IntStream.range(0, files).filter(isWanted).toArray

  // The ends of known files are numbered: two for each file, the minimum first.
  private def isLower(end: Int): Boolean = (end & 1) == 0
  private def fileOf(end: Int): Int = end >> 1

  /** @param ends of the known files, in the order of their values */
  private def of(kinds: Array[Byte], known: Array[Int], ends: Array[Int])(
      isSame: (Int, Int) => Boolean): FileRanges = {
    val lower = new Array[Int](kinds.length)
    val upper = new Array[Int](kinds.length)
    var i = 0
    while (i < kinds.length) {
      lower(i) = if (kinds(i) == OnlyNulls) Int.MaxValue else Int.MinValue
      upper(i) = if (kinds(i) == OnlyNulls) Int.MinValue else Int.MaxValue
      i += 1
    }
    var rank = -1
    i = 0
    while (i < ends.length) {
      val end = ends(i)
      if (i == 0 || !isSame(ends(i - 1), end)) rank += 1
      (if (isLower(end)) lower else upper) (known(fileOf(end))) = rank
      i += 1
    }
    new FileRanges(lower, upper, rank + 1)
  }
}
