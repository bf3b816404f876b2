package io.zcube.planning

/** Decides which cubes are merged with the fresh files, and with each other. */
trait MergePolicy {

  /** Pure: the same files and options always give the same cubes.
    *
    * @param space of the whole table or partition
    * @return groups of files to rewrite together, none larger than need be; files that are in none
    *         stay as they are
    */
  def merge(candidates: CandidateFiles, space: => RankSpace, options: PlanOptions): Merge
}
