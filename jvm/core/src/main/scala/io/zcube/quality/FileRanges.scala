package io.zcube.quality

import java.util.{Arrays, Comparator}

/** The closed intervals [min, max] of one column, one for each file, as ranks: places of a value among
  * all distinct minima and maxima. Ranks compare as the values do, so whatever is asked of intervals
  * can be asked of ranks, in two `Int`s a file.
  *
  * Example: files [10, 20], [20, 35] and one without statistics are, with the ranks 10 → 0, 20 → 1,
  * 35 → 2, the intervals [0, 1], [1, 2] and [`Int.MinValue`, `Int.MaxValue`], which meets all.
  *
  * A file of NULLs only has no value at all. Its interval is empty, [`Int.MaxValue`, `Int.MinValue`]:
  * no point lies in it, as no comparison makes a reader open it.
  *
  * @param distinct how many distinct minima and maxima there are
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

  /** Whether the file has one value only, as far as its statistics tell. */
  def isConstant(file: Int): Boolean = isKnown(file) && lower(file) == upper(file)
}

object FileRanges {

  /** A file with a minimum and a maximum. */
  final val Known: Byte = 0

  /** A file that may hold anything. */
  final val Unknown: Byte = 1

  /** A file of NULLs only, or without a row. */
  final val OnlyNulls: Byte = 2

  /** Of values that are numbers, or keys that sort as the values do.
    *
    * @param kinds `Known`, `Unknown` or `OnlyNulls`, for each file
    * @param lower minima; looked at where known
    * @param upper maxima; a maximum below its minimum makes its file an unknown one
    */
  def ofLongs(kinds: Array[Byte], lower: Array[Long], upper: Array[Long]): FileRanges = {
    val known = kinds.indices.filter(i => kinds(i) == Known && lower(i) <= upper(i)).toArray
    val ends = new Array[Long](2 * known.length)
    known.indices.foreach { k =>
      ends(2 * k) = lower(known(k))
      ends(2 * k + 1) = upper(known(k))
    }
    Arrays.parallelSort(ends)
    val distinct = distinctOf(ends.length)((a, b) => ends(a) == ends(b))((to, from) =>
      ends(to) = ends(from))
    of(kinds, known, distinct) { (i, up) =>
      Arrays.binarySearch(ends, 0, distinct, if (up) upper(i) else lower(i))
    }
  }

  /** The same of any values, such as texts.
    *
    * @param order the order by which minima and maxima were found
    */
  def of[T <: AnyRef](
      kinds: Array[Byte],
      lower: Array[T],
      upper: Array[T],
      order: Comparator[AnyRef]): FileRanges = {
    val known =
      kinds.indices.filter(i => kinds(i) == Known && order.compare(lower(i), upper(i)) <= 0).toArray
    val ends = new Array[AnyRef](2 * known.length)
    known.indices.foreach { k =>
      ends(2 * k) = lower(known(k))
      ends(2 * k + 1) = upper(known(k))
    }
    Arrays.parallelSort(ends, order)
    val distinct = distinctOf(ends.length)((a, b) => order.compare(ends(a), ends(b)) == 0)(
      (to, from) => ends(to) = ends(from))
    of(kinds, known, distinct) { (i, up) =>
      Arrays.binarySearch(ends, 0, distinct, if (up) upper(i) else lower(i), order)
    }
  }

  /** Moves the first of each run of equals to the front; how many there are. */
  private def distinctOf(length: Int)(same: (Int, Int) => Boolean)(
      move: (Int, Int) => Unit): Int = {
    var kept = 0
    var i = 0
    while (i < length) {
      if (kept == 0 || !same(kept - 1, i)) {
        move(kept, i)
        kept += 1
      }
      i += 1
    }
    kept
  }

  private def of(kinds: Array[Byte], known: Array[Int], distinct: Int)(
      rank: (Int, Boolean) => Int): FileRanges = {
    val lower = kinds.map(kind => if (kind == OnlyNulls) Int.MaxValue else Int.MinValue)
    val upper = kinds.map(kind => if (kind == OnlyNulls) Int.MinValue else Int.MaxValue)
    known.foreach { i =>
      lower(i) = rank(i, false)
      upper(i) = rank(i, true)
    }
    new FileRanges(lower, upper, distinct)
  }
}
