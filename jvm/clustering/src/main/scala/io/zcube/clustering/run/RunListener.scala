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

  /** Adds up all runs of this driver. Cubes are counted as planned, so that those committed and dropped
    * add up to them.
    */
  object Totals extends RunListener {
    import OptimizeTotals._

    override def planned(plan: RewritePlan): Unit = plannedCubes.add(plan.cubes.toLong)

    override def committed(results: Seq[RewriteResult]): Unit = {
      committedCubes.add(results.map(_.group.cubes.toLong).sum)
      for (result <- results) {
        filesRemoved.add(result.removed.size.toLong)
        filesAdded.add(result.added.size.toLong)
        bytesRemoved.add(result.group.storedBytes)
        bytesAdded.add(result.addedBytes)
        for {
          before <- result.metrics.before.flatMap(_.averageDepth)
          after <- result.metrics.after.flatMap(_.averageDepth)
        } depths.set(Depths(before, after))
      }
    }

    override def dropped(groups: Seq[RewriteGroup]): Unit =
      droppedCubes.add(groups.map(_.cubes.toLong).sum)
  }
}
