package io.zcube.quality

/** The maximum of any run of values, in constant time. Values are divided into blocks. A sparse
  * table has, for each block, the maximum of the 1, 2, 4, … blocks from it on, so that two entries
  * cover any number of whole blocks. For the rest at both ends, tables have the maximum from each
  * value to its block's ends.
  *
  * Source: M. A. Bender, M. Farach-Colton, "The LCA problem revisited", LATIN 2000.
  */
final private[quality] class RangeMaximum(values: Array[Int]) {
  import RangeMaximum._

  /** The maximum from the beginning of a value's block to the value. */
  private val upTo = {
    val found = values.clone()
    var i = 1
    while (i < found.length) {
      if (i % BlockSize != 0) found(i) = math.max(found(i), found(i - 1))
      i += 1
    }
    found
  }

  /** The maximum from a value to the end of its block. */
  private val onFrom = {
    val found = values.clone()
    var i = found.length - 2
    while (i >= 0) {
      if ((i + 1) % BlockSize != 0) found(i) = math.max(found(i), found(i + 1))
      i -= 1
    }
    found
  }

  /** By level and block: the maximum of 2^level blocks. */
  private val tables: Array[Array[Int]] = {
    val blocks = (values.length + BlockSize - 1) / BlockSize
    val ofEach = Array.tabulate(blocks)(block => onFrom(block * BlockSize))
    Iterator
      .iterate((ofEach, 1)) { case (halves, width) =>
        val whole = math.max(0, halves.length - width)
        (Array.tabulate(whole)(b => math.max(halves(b), halves(b + width))), 2 * width)
      }
      .map(_._1).takeWhile(_.nonEmpty).toArray
  }

  /** The maximum from one index to another, inclusive. */
  def apply(from: Int, to: Int): Int = {
    val first = from / BlockSize
    val last = to / BlockSize
    if (first == last) greatest(from, to)
    else {
      val ends = math.max(onFrom(from), upTo(to))
      val between = last - first - 1
      if (between == 0) ends
      else {
        val level = 31 - Integer.numberOfLeadingZeros(between)
        val table = tables(level)
        math.max(ends, math.max(table(first + 1), table(last - (1 << level))))
      }
    }
  }

  private def greatest(from: Int, to: Int): Int = {
    var found = values(from)
    var i = from + 1
    while (i <= to) {
      found = math.max(found, values(i))
      i += 1
    }
    found
  }
}

private object RangeMaximum {
  private val BlockSize = 64
}
