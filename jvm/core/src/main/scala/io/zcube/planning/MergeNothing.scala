package io.zcube.planning

/** Merges nothing, and leaves files that are due: only what overlaps is regrouped
  * ([[JobDivision.regroup]]).
  */
object MergeNothing extends MergePolicy("none") {

  override def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Seq[Seq[PlannedFile]] = Nil
}
