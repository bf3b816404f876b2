package io.zcube.sql.sampling

import scala.collection.mutable

/** Counts the hashes that come often, in bounded memory: of those that make up more than one in `capacity`
  * it misses few rows, and of others it may forget all.
  * (J. Misra, D. Gries, "Finding repeated elements", Science of Computer Programming 2, 1982.)
  */
final private[sql] class FrequentHashes(capacity: Int) {

  private val counters = mutable.LongMap.empty[Long]

  /** Counts one more, and returns how many there were, at least, with this one. */
  def add(hash: Long): Long = {
    val count = counters.getOrElse(hash, 0L) + 1
    counters.update(hash, count)
    if (counters.size > capacity) crossOut()
    count
  }

  /** Takes one from each, which is paid for by the rows that made them. */
  private def crossOut(): Unit = {
    val left = counters.iterator.collect { case (hash, n) if n > 1 => hash -> (n - 1) }.toArray
    counters.clear()
    left.foreach { case (hash, n) => counters.update(hash, n) }
  }
}
