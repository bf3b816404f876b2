package io.zcube.sql.sampling

/** Counts the copies of each hash in bounded memory. Hashes that share a slot disturb each other: the
  * slot counts them all, and forgets one when another comes. Frequent hashes are counted nearly
  * exactly, if there are fewer of them than slots. (The counts are bounded as in A. Metwally,
  * D. Agrawal, A. El Abbadi, "Efficient computation of frequent and top-k elements in data streams",
  * ICDT 2005.)
  *
  * @param slots a power of two
  */
final private[sql] class CopyCounter(slots: Int) {

  private val hashes = new Array[Long](slots)
  private val counts = new Array[Long](slots)

  /** What the slot had counted when its hash came. */
  private val before = new Array[Long](slots)
  private var slot = 0

  /** Counts a copy, to which the methods below then refer. */
  def add(hash: Long): Unit = {
    // Samples are of small hashes, so the lowest bits tell these apart.
    slot = hash.toInt & (slots - 1)
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
