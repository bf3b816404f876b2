package io.zcube.planning

/** What an OPTIMIZE will do with every file.
  *
  * @param cubes the new cubes, the most useful first
  * @param kept  the files that stay as they are
  */
final case class ClusteringPlan(cubes: Seq[PlannedCube], kept: Seq[PlannedFile]) {

  def isEmpty: Boolean = cubes.isEmpty

  def bytes: Long = cubes.map(_.bytes).sum

  /** The files that stay for want of budget only. */
  def overBudget: Seq[PlannedFile] = kept.filter(_.reason == FileReason.OverBudget)

  /** The plan in lines: one for each cube, one for the files that stay. */
  def describe: String = {
    val lines = cubes.zipWithIndex.map { case (cube, i) => s"cube ${i + 1}: ${cube.describe}" }
    val stay = if (kept.isEmpty) Nil else Seq(s"stay: ${PlannedFile.countByReason(kept)}")
    (lines ++ stay).mkString("\n")
  }
}
