package io.zcube.planning

/** Delta's documented rule: files that are due and all partial cubes are clustered together, unless
  * there is one cube and nothing due. Queries read least, but each run rewrites everything that isn't
  * stable.
  */
object MergeAll extends MergePolicy("all") {

  override def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Seq[Seq[PlannedFile]] =
    if (candidates.due.isEmpty && candidates.partial.size <= 1) Nil
    else {
      val cubes = candidates.partial.flatMap(_.files).map(PlannedFile(_, FileReason.SmallCube))
      Seq(candidates.due ++ cubes)
    }
}
