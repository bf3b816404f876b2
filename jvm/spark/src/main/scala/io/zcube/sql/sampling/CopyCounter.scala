package io.zcube.sql.sampling

/** Counts the copies of each hash in bounded memory. Frequent hashes are counted nearly exactly, as
  * long as there are fewer of them than slots.
  *
  * A hash may be in any slot of a set of four. A new one replaces the one with the smallest count,
  * and continues from it: such counts are never too small. (A. Metwally, D. Agrawal, A. El Abbadi,
  * "Efficient computation of frequent and top-k elements in data streams", ICDT 2005, with its
  * table divided like a processor's cache.)
  *
  * @param sets a power of two
  */
final private[sql] class CopyCounter(sets: Int) {
  import CopyCounter.Ways

  private val hashes = new Array[Long](sets * Ways)
  private val counts = new Array[Long](sets * Ways)

  /** What the slot had counted when its hash came. */
  private val before = new Array[Long](sets * Ways)
  private var slot = 0

  /** Counts a copy, to which the methods below then refer. */
  def add(hash: Long): Unit = {
    // Samples are of small hashes, so the lowest bits tell these apart.
    val first = (hash.toInt & (sets - 1)) * Ways
    slot = first
    var next = first
    while (hashes(slot) != hash && next < first + Ways) {
      if (hashes(next) == hash || counts(next) < counts(slot)) slot = next
      next += 1
    }
    if (hashes(slot) != hash) {
      hashes(slot) = hash
      before(slot) = counts(slot)
    }
    counts(slot) += 1
  }

  /** The hash has at least this many copies so far. */
  def atLeast: Long = counts(slot) - before(slot)

  /** The hash has at most this many copies so far. It increases with each copy of the hash, so it is
    * a number that no other copy has.
    */
  def atMost: Long = counts(slot)
}

private object CopyCounter {
  private val Ways = 4
}
