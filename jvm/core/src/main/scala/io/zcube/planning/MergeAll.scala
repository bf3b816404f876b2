package io.zcube.planning

/** Delta's documented rule: fresh files and all partial cubes are clustered together, unless there
  * is one cube and nothing fresh. Queries read least, but each run rewrites everything that isn't
  * stable.
  */
object MergeAll extends MergePolicy("all") {

  override def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Seq[Seq[PlannedFile]] =
    if (candidates.fresh.isEmpty && candidates.partial.size <= 1) Nil
    else {
      val cubes = candidates.partial.flatMap(_.files).map(PlannedFile(_, FileReason.SmallCube))
      Seq(candidates.fresh ++ cubes)
    }
}
