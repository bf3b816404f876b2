package io.zcube.planning

/** What an OPTIMIZE does with every file.
  *
  * @param cubes the new cubes, the most useful first
  * @param kept  the files that stay as they are
  */
final case class ClusteringPlan(cubes: Seq[PlannedCube], kept: Seq[PlannedFile]) {

  def isEmpty: Boolean = cubes.isEmpty

  /** The files that stay only because of the budget. */
  def overBudget: Seq[PlannedFile] = kept.filter(_.reason == FileReason.OverBudget)
}
