package io.zcube.planning

/** What a [[MergePolicy]] decided: groups of files to rewrite together. */
final case class Merge(groups: Seq[Seq[PlannedFile]])

object Merge {
  val Nothing: Merge = Merge(Seq.empty)
}
