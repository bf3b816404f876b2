package io.zcube.quality

import java.util.Arrays
import java.util.function.{IntBinaryOperator, IntToLongFunction}

/** Sorts indexes by their keys. Key and index are packed into one long, and longs are sorted fast
  * and without boxing; only keys that don't fit are compared again.
  */
private[zcube] object SortedIndexes {

  /** @param indexes not negative; not changed
    * @param key     of an index
    * @param ties compares indexes with equal keys; 0 if their order doesn't matter
    */
  def of(
      indexes: Array[Int],
      key: IntToLongFunction,
      ties: Option[IntBinaryOperator] = None): Array[Int] =
    if (indexes.isEmpty) indexes
    else {
      val keys = Arrays.stream(indexes).mapToLong(key).toArray
      val min = Arrays.stream(keys).min.getAsLong
      // As an unsigned number: the difference of two longs may exceed the largest long.
      val keyBits =
        64 - java.lang.Long.numberOfLeadingZeros(Arrays.stream(keys).max.getAsLong - min)
      val indexBits = 32 - Integer.numberOfLeadingZeros(Arrays.stream(indexes).max.getAsInt)
      val dropped = math.max(0, keyBits + indexBits - 63)
      var i = 0
      while (i < keys.length) {
        keys(i) = ((keys(i) - min) >>> dropped) << indexBits | indexes(i)
        i += 1
      }
      Arrays.parallelSort(keys)
      val sorted = new Array[Int](keys.length)
      i = 0
      while (i < keys.length) {
        sorted(i) = (keys(i) & ((1L << indexBits) - 1)).toInt
        i += 1
      }
      if (dropped > 0 || ties.isDefined) sortRuns(sorted, keys, indexBits, key, ties, dropped)
      sorted
    }

  /** Sorts each run of indexes with equal packed keys by their full keys. A long run's keys lie near each
    * other, so that packed by themselves they fit: without that, a single key far from all others would
    * have all of them compared one by one.
    */
  private def sortRuns(
      sorted: Array[Int],
      packed: Array[Long],
      indexBits: Int,
      key: IntToLongFunction,
      ties: Option[IntBinaryOperator],
      dropped: Int): Unit = {
    var from = 0
    while (from < sorted.length) {
      val run = packed(from) >>> indexBits
      var until = from + 1
      while (until < sorted.length && packed(until) >>> indexBits == run) until += 1
      if (dropped > 0 && until - from > LongRun) {
        of(sorted.slice(from, until), key, ties).copyToArray(sorted, from): Unit
      } else if (until > from + 1) {
        val members = sorted.slice(from, until).map(Integer.valueOf)
        Arrays.parallelSort(
          members,
          (a: Integer, b: Integer) => {
            val byKey = java.lang.Long.compare(key.applyAsLong(a), key.applyAsLong(b))
            if (byKey != 0 || ties.isEmpty) byKey else ties.get.applyAsInt(a, b)
          }
        )
        members.indices.foreach(i => sorted(from + i) = members(i))
      }
      from = until
    }
  }

  private val LongRun = 64
}
