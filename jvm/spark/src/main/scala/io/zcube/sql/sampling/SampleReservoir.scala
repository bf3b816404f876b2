package io.zcube.sql.sampling

import java.util.PriorityQueue

/** Keeps the rows with the smallest hashes: all below a threshold that decreases as space runs out.
  *
  * It always keeps all rows seen with hash < threshold, which makes samples of parts of the data
  * mergeable: the sample of the whole is what is below the smallest threshold of the parts. So it
  * doesn't matter how the rows were divided among tasks, or in which order tasks finish. (Bottom-k
  * sampling: E. Cohen, H. Kaplan, "Summarizing data using bottom-k sketches", PODC 2007.)
  */
final private[sql] class SampleReservoir(limits: SampleLimits, initialThreshold: Long) {
  import SampleReservoir.Entry

  private val entries =
    new PriorityQueue[Entry](1024, (a: Entry, b: Entry) => java.lang.Long.compare(b.hash, a.hash))
  private var bytes = 0L
  private var limit = initialThreshold

  /** Rows at or above this hash are not in the sample. */
  def threshold: Long = limit

  def accepts(hash: Long): Boolean = hash < limit

  def add(hash: Long, row: Array[Byte]): Unit = add(hash, row.length, row)

  /** Adds a row of which only the size is known. It takes as much of the limits as the row would. */
  def addSize(hash: Long, size: Int): Unit = add(hash, size, null)

  private def add(hash: Long, size: Int, row: Array[Byte]): Unit = if (accepts(hash)) {
    entries.add(new Entry(hash, size, row))
    bytes += size + SampleLimits.RowOverhead
    while (entries.size > limits.rows || bytes > limits.bytes) lowerTo(entries.peek.hash)
  }

  /** Drops all rows at or above `newThreshold`. */
  def lowerTo(newThreshold: Long): Unit = if (newThreshold < limit) {
    limit = newThreshold
    while (!entries.isEmpty && entries.peek.hash >= limit)
      bytes -= entries.poll().size + SampleLimits.RowOverhead
  }

  /** The kept rows, by ascending hash. A row is null if only its size is known. */
  def result(): Array[(Long, Array[Byte])] = sorted().map(e => (e.hash, e.row))

  /** The sizes of the kept rows from this hash on, by ascending hash. */
  def sizesFrom(hash: Long): Array[(Long, Int)] =
    sorted().collect { case e if e.hash >= hash => (e.hash, e.size) }

  private def sorted(): Array[Entry] = {
    val sorted = entries.toArray(Array.empty[Entry])
    java.util.Arrays.sort(sorted, (a: Entry, b: Entry) => java.lang.Long.compare(a.hash, b.hash))
    sorted
  }
}

private[sql] object SampleReservoir {
  final private class Entry(val hash: Long, val size: Int, val row: Array[Byte])
}
