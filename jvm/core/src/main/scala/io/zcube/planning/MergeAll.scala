package io.zcube.planning

/** The rule that Delta documents: fresh files and all partial cubes are clustered together, unless
  * there is one cube and nothing fresh. Reading is best; each run rewrites all that is not stable.
  */
object MergeAll extends MergePolicy {

  override def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Merge =
    if (candidates.fresh.isEmpty && candidates.partial.size <= 1) Merge.Nothing
    else {
      val cubes = candidates.partial.flatMap(_.files).map(PlannedFile(_, FileReason.SmallCube))
      Merge(Seq(candidates.fresh ++ cubes))
    }
}
