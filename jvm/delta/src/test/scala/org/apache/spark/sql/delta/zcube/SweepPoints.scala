package org.apache.spark.sql.delta.zcube

import scala.util.Random

/** Which operations of a run fail, and how.
  *
  * @param mode `all`: every operation fails in every way, which takes hours. `changes`: all that
  *             change something or are the log store's, and some of those that read, which takes less
  *             than an hour. None: those of the commit itself, and some of the others
  */
final private[zcube] class SweepPoints(mode: Option[String]) {
  import SweepPoints._

  /** Every way in which every operation of a run can fail. */
  def all(counts: Map[String, Int], faults: Seq[Fault.Value]): Seq[Faults.Point] =
    for {
      (kind, count) <- counts.toSeq.sorted
      number <- 1 to count
      fault <- faults if fault != Fault.Within || kind == Write
    } yield Faults.Point(kind, number, fault)

  def sampled(all: Seq[Faults.Point]): Seq[Faults.Point] = if (mode.contains("all")) all
  else {
    val (reads, changes) = all.partition(point => Reads.contains(point.kind))
    val (commits, others) = changes.partition(_.kind == Commit)
    val (writes, rest) = others.partition(_.kind == Write)
    val random = new Random(15)
    if (mode.isDefined) changes ++ random.shuffle(reads).take(20 * SampledReads)
    else {
      commits ++ random.shuffle(writes).take(SampledWrites) ++
        random.shuffle(rest).take(SampledChanges) ++ random.shuffle(reads).take(SampledReads)
    }
  }
}

private[zcube] object SweepPoints {

  /** By the log store. */
  val Commit = "log write"

  /** To a file, of what its buffer holds. */
  private val Write = "write"

  /** Kinds of operations that change nothing and are not the log store's. */
  private val Reads = Set("open", "read", "list", "status")

  // The engine's own sweep, on a table in memory, fails every operation in every way (FaultsSuite).
  private val SampledChanges = 2

  private val SampledWrites = 2

  private val SampledReads = 1
}
