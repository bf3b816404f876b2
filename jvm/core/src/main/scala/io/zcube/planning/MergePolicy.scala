package io.zcube.planning

import java.util.Locale

/** Decides which cubes are merged with the files that are due, and with each other. */
abstract class MergePolicy(val name: String) {

  /** Pure: the same files and options always give the same cubes.
    *
    * @param space of the whole table or partition
    * @return groups of files to rewrite together, none larger than necessary; all other files stay
    *   as they are
    */
  def merge(
      candidates: CandidateFiles,
      space: => RankSpace,
      options: PlanOptions): Seq[Seq[PlannedFile]]
}

object MergePolicy {
  val all: Seq[MergePolicy] = Seq(LazyLeveling, MergeAll)

  /** For messages. */
  val names: String = all.map(_.name).mkString(" or ")

  /** The policy of that name, ignoring case. */
  def find(name: String): Option[MergePolicy] = all.find(_.name == name.toLowerCase(Locale.ROOT))
}
