package io.zcube.sql.sampling

import scala.collection.mutable

/** Counts the copies of each hash in bounded memory. As long as there are at most `capacity`
  * hashes, the counts are exact. With more, frequent ones are counted nearly exactly. (J. Misra,
  * D. Gries, "Finding repeated elements", Science of Computer Programming 2, 1982.)
  */
final private[sql] class CopyCounter(capacity: Int) {

  private val counters = mutable.LongMap.empty[Long]
  private var crossings = 0L
  private var least, most = 0L

  /** Counts a copy, to which the methods below then refer. */
  def add(hash: Long): Unit = {
    least = counters.getOrElse(hash, 0L) + 1
    most = least + crossings
    counters.update(hash, least)
    if (counters.size > capacity) crossOut()
  }

  /** The hash has at least this many copies so far. */
  def atLeast: Long = least

  /** The hash has at most this many copies so far. It increases with each copy of the hash, so it is
    * a number that no other copy has.
    */
  def atMost: Long = most

  /** Decrements each; the cost is amortized over the rows that incremented them. */
  private def crossOut(): Unit = {
    val left = counters.iterator.collect { case (hash, n) if n > 1 => hash -> (n - 1) }.toArray
    counters.clear()
    left.foreach { case (hash, n) => counters.update(hash, n) }
    crossings += 1
  }
}
