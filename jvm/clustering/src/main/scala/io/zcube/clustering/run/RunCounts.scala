package io.zcube.clustering.run

import io.zcube.clustering.plan.{RewriteGroup, RewritePlan}

/** What an event of a run adds to its figures; None for those that it doesn't concern. Cubes are counted
  * as planned. Those committed and dropped add up to the planned ones, except for cubes that a run didn't
  * come to: it failed, or its time was over.
  */
final case class RunCounts(
    plannedCubes: Option[Long] = None,
    committedCubes: Option[Long] = None,
    droppedCubes: Option[Long] = None,
    filesRemoved: Option[Long] = None,
    filesAdded: Option[Long] = None,
    bytesRemoved: Option[Long] = None,
    bytesAdded: Option[Long] = None)

object RunCounts {

  def ofPlan(plan: RewritePlan): RunCounts = RunCounts(plannedCubes = Some(plan.cubes.toLong))

  def ofCommit(results: Seq[RewriteResult]): RunCounts = RunCounts(
    committedCubes = Some(cubesOf(results.map(_.group))),
    filesRemoved = Some(results.map(_.removed.size.toLong).sum),
    filesAdded = Some(results.map(_.added.size.toLong).sum),
    bytesRemoved = Some(results.map(_.group.storedBytes).sum),
    bytesAdded = Some(results.map(_.addedBytes).sum)
  )

  def ofDropped(groups: Seq[RewriteGroup]): RunCounts =
    RunCounts(droppedCubes = Some(cubesOf(groups)))

  private def cubesOf(groups: Seq[RewriteGroup]): Long = groups.map(_.cubes.toLong).sum
}
