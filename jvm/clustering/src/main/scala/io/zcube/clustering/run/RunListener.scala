package io.zcube.clustering.run

import io.zcube.clustering.plan.{RewriteGroup, RewritePlan}
import io.zcube.sql.metrics.OptimizeTotals

/** Receives the events of an OPTIMIZE, on the thread that causes them. What it throws is ignored. */
trait RunListener {

  /** Nothing is written yet. */
  def planned(plan: RewritePlan): Unit

  /** The cubes of one commit, which is in the log. */
  def committed(results: Seq[RewriteResult]): Unit

  /** A concurrent change invalidated them. */
  def dropped(groups: Seq[RewriteGroup]): Unit
}

object RunListener {

  /** Adds up the counts of all events. */
  trait Counting extends RunListener {

    protected def add(counts: RunCounts): Unit

    override def planned(plan: RewritePlan): Unit = add(RunCounts.ofPlan(plan))

    override def committed(results: Seq[RewriteResult]): Unit = add(RunCounts.ofCommit(results))

    override def dropped(groups: Seq[RewriteGroup]): Unit = add(RunCounts.ofDropped(groups))
  }

  /** Adds up all runs of this driver. */
  object Totals extends Counting {
    import OptimizeTotals._

    override protected def add(counts: RunCounts): Unit = {
      counts.plannedCubes.foreach(plannedCubes.add)
      counts.committedCubes.foreach(committedCubes.add)
      counts.droppedCubes.foreach(droppedCubes.add)
      counts.filesRemoved.foreach(filesRemoved.add)
      counts.filesAdded.foreach(filesAdded.add)
      counts.bytesRemoved.foreach(bytesRemoved.add)
      counts.bytesAdded.foreach(bytesAdded.add)
    }

    override def committed(results: Seq[RewriteResult]): Unit = {
      super.committed(results)
      for {
        result <- results
        before <- result.metrics.before.flatMap(_.averageDepth)
        after <- result.metrics.after.flatMap(_.averageDepth)
      } depths.set(Depths(before, after))
    }
  }
}
