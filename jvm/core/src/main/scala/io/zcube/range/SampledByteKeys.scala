package io.zcube.range

import java.util.Arrays

/** Maps byte strings, such as texts in UTF-8, to 8-byte integers that sort like them, and most
  * finely where many of them are.
  *
  * Of strings with a long common prefix, such as URLs, the first 8 bytes say nothing. But two
  * neighbours in a sorted sample share a prefix with all strings between them. So a string's key is
  * the number of the gap that it is in, and the 5 bytes that follow the gap's prefix.
  *
  * {{{
  *   sample: https://a.org/item/17, https://a.org/item/93
  *   https://a.org/item/425 is in gap 1, whose prefix is https://a.org/item/: (1 << 40) | "425"
  * }}}
  *
  * Strings that differ only behind those bytes have the same key. Keys of different samples don't
  * compare.
  *
  * Cost: a binary search, and one pass over the prefix.
  */
final class SampledByteKeys private (sample: Array[Array[Byte]]) extends Serializable {
  import SampledByteKeys._

  // The common prefix of each gap; gap i is before sample(i). The first and the last gap have none.
  private val prefixes = Array.tabulate(sample.length + 1) { i =>
    if (i == 0 || i == sample.length) 0 else commonPrefix(sample(i - 1), sample(i))
  }

  /** Not negative; `a` before `b` in the order of unsigned bytes implies `of(a) <= of(b)`. */
  def of(bytes: Array[Byte]): Long = {
    val gap = firstAfter(bytes)
    var key = gap.toLong
    var i = prefixes(gap)
    val end = i + BytesInGap
    while (i < end) {
      key = (key << 8) | (if (i < bytes.length) bytes(i) & 0xff else 0)
      i += 1
    }
    key
  }

  /** The number of sampled strings that are at most `bytes`. */
  private def firstAfter(bytes: Array[Byte]): Int = {
    var low = 0
    var high = sample.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (Arrays.compareUnsigned(sample(middle), bytes) <= 0) low = middle + 1 else high = middle
    }
    low
  }
}

object SampledByteKeys {

  private val BytesInGap = 5

  /** A larger sample leaves no room for its gaps' numbers. */
  val MaxSampled: Int = (1 << 23) - 1

  /** @param sample in any order, at most [[MaxSampled]] strings */
  def of(sample: Seq[Array[Byte]]): SampledByteKeys = {
    require(sample.length <= MaxSampled, s"${sample.length} sampled strings")
    val sorted = sample.toArray
    Arrays.sort(sorted, (a: Array[Byte], b: Array[Byte]) => Arrays.compareUnsigned(a, b))
    val distinct = sorted.indices.collect {
      case i if i == 0 || !Arrays.equals(sorted(i - 1), sorted(i)) => sorted(i)
    }
    new SampledByteKeys(distinct.toArray)
  }

  private def commonPrefix(a: Array[Byte], b: Array[Byte]): Int = {
    val differs = Arrays.mismatch(a, b)
    if (differs < 0) a.length else differs
  }
}
