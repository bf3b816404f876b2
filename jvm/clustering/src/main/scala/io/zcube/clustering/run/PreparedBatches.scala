package io.zcube.clustering.run

import io.zcube.clustering.plan.RewriteGroup
import io.zcube.clustering.table.FileSelection

/** Has a selection read what the log has on files shortly before they are rewritten, and forget it
  * afterwards: of each file that is a kilobyte or two on the driver, and the first clustering of a
  * large table rewrites a million. One read serves many small batches, as it is a Spark job.
  *
  * @param batches the groups of each commit, in the order in which they begin
  * @param atOnce  how many files are read at a time, unless one batch has more
  * @param read    runs the selection's `prepare`, a Spark job
  */
final private[clustering] class PreparedBatches(
    selection: FileSelection,
    batches: Seq[Seq[RewriteGroup]],
    atOnce: Int = PreparedBatches.Files,
    read: (=> Unit) => Unit = reading => reading) {

  private val ordered = batches.toIndexedSeq

  private val position: Map[Int, Int] = ordered.iterator.map(_.head.number).zipWithIndex.toMap

  /** How many have been read: the first ones. */
  private var done = 0

  /** Runs what uses the files of a batch. */
  def within[T](batch: Seq[RewriteGroup])(body: FileSelection => T): T =
    try {
      readUpTo(position(batch.head.number))
      body(selection)
    } finally selection.release(filesOf(batch))

  private def readUpTo(batch: Int): Unit = synchronized {
    if (batch >= done) {
      val sums = ordered.iterator.drop(done).map(filesOf(_).size.toLong).scanLeft(0L)(_ + _).drop(1)
      val next = math.max(batch + 1, done + sums.takeWhile(_ <= atOnce).size)
      read(selection.prepare(ordered.slice(done, next).flatMap(filesOf)))
      done = next
    }
  }

  private def filesOf(batch: Seq[RewriteGroup]) = batch.flatMap(_.files)
}

private[clustering] object PreparedBatches {

  /** A hundred megabytes or less. */
  val Files = 50000
}
