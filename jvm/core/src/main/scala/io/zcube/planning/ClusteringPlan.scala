package io.zcube.planning

/** What an OPTIMIZE does with every file.
  *
  * @param groups the files to rewrite, the most useful group first
  * @param kept   the files that stay as they are
  */
final case class ClusteringPlan(groups: Seq[PlannedGroup], kept: Seq[PlannedFile]) {

  def isEmpty: Boolean = groups.isEmpty

  /** The files that stay only because of the budget. */
  def overBudget: Seq[PlannedFile] = kept.filter(_.reason == FileReason.OverBudget)
}
