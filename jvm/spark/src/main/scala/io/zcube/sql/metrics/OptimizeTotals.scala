package io.zcube.sql.metrics

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference, LongAdder}

/** What the OPTIMIZEs of this driver have done since it started, whatever their sessions. [[ZCubePlugin]]
  * shows it to Spark's metrics system.
  */
object OptimizeTotals {
  val activeRuns = new AtomicInteger
  val plannedCubes = new LongAdder
  val committedCubes = new LongAdder
  val droppedCubes = new LongAdder
  val filesRemoved = new LongAdder
  val filesAdded = new LongAdder
  val bytesRemoved = new LongAdder
  val bytesAdded = new LongAdder

  /** Average depths of the files of the newest cube whose quality was measured. */
  val depths = new AtomicReference[Depths](Depths(Double.NaN, Double.NaN))

  /** Files over a point of the clustering columns, on average; 1 is best.
    *
    * @param before of the files that were rewritten, among themselves
    * @param after  of those that replaced them
    */
  final case class Depths(before: Double, after: Double)
}
