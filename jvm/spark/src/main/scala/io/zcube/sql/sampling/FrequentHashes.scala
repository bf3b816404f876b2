package io.zcube.sql.sampling

import scala.collection.mutable

/** Counts frequent hashes in bounded memory: for those that make up more than one in `capacity` it
  * misses few rows, and it may forget all others. (J. Misra, D. Gries, "Finding repeated elements",
  * Science of Computer Programming 2, 1982.)
  */
final private[sql] class FrequentHashes(capacity: Int) {

  private val counters = mutable.LongMap.empty[Long]

  /** Counts an occurrence, and returns a lower bound of the count, including this one. */
  def add(hash: Long): Long = {
    val count = counters.getOrElse(hash, 0L) + 1
    counters.update(hash, count)
    if (counters.size > capacity) crossOut()
    count
  }

  /** Decrements each; the cost is amortized over the rows that incremented them. */
  private def crossOut(): Unit = {
    val left = counters.iterator.collect { case (hash, n) if n > 1 => hash -> (n - 1) }.toArray
    counters.clear()
    left.foreach { case (hash, n) => counters.update(hash, n) }
  }
}
