package io.zcube.planning

/** Plans which files are rewritten into which cubes, as a pure function of the files and the
  * options.
  *
  * Example: for a table with one partial cube and 200 fresh files, [[MergeAll]] plans one cube of
  * all files; [[LazyLeveling]] plans a cube of the fresh files if they are few compared with the
  * existing cube, otherwise one of all files.
  */
final class ZCubePlanner(options: PlanOptions) {
  private val jobs = new JobDivision(options)

  def plan(files: Seq[DataFile]): ClusteringPlan = planPartitions(Seq(files))

  /** Plans each partition separately, and spends the budget on the most useful cubes overall.
    *
    * @param outside the parts of these files' cubes that WHERE excludes, by cube id
    */
  def planPartitions(
      partitions: Seq[Seq[DataFile]],
      outside: Map[String, CubeRest] = Map.empty): ClusteringPlan = {
    val (groups, kept) = partitions.map(planOne(_, outside)).unzip
    val (within, over) =
      spend(groups.flatten.sortBy(c => (-c.usefulness, -c.bytes, c.files.head.file.path)))
    ClusteringPlan(
      within,
      kept.flatten ++ over.flatMap(_.files).map(_.copy(reason = FileReason.OverBudget)))
  }

  private def planOne(
      files: Seq[DataFile],
      outside: Map[String, CubeRest]): (Seq[PlannedGroup], Seq[PlannedFile]) = {
    val candidates = CandidateFiles.of(files, options, outside)
    lazy val space = RankSpace.of(files)
    val merges = options.policy.merge(candidates, space, options)
    val (affordable, beyond) = merges.map(afford).unzip
    val groups =
      affordable.flatMap(jobs.divide).map(PlannedGroup(_, options.cubeSizes))
    val dropped = beyond.flatten.map(_.copy(reason = FileReason.OverBudget))
    val taken = PlannedFile.pathsOf(groups.iterator.flatMap(_.files) ++ dropped)
    val idle = candidates.partial.flatMap(_.files).filterNot(f => taken(f.path))
    val waiting = candidates.fresh.filterNot(f => taken(f.file.path))
    val stay = idle.map(PlannedFile(_, FileReason.InCube)) ++
      waiting.map(_.copy(reason = FileReason.Waits))
    (groups, candidates.kept ++ dropped ++ stay)
  }

  /** The files of a group to rewrite, and those over budget. A merge isn't split: its parts would
    * be small cubes that have to be merged again. Fresh files are written without it.
    */
  private def afford(group: Seq[PlannedFile]): (Seq[PlannedFile], Seq[PlannedFile]) = {
    val bytes = PlannedFile.bytesOf(group)
    if (options.maxBytes.exists(bytes > _)) group.partition(f => PlannedGroup.isFresh(f.reason))
    else (group, Nil)
  }

  private def spend(groups: Seq[PlannedGroup]): (Seq[PlannedGroup], Seq[PlannedGroup]) =
    options.maxBytes match {
      case None => (groups, Nil)
      case Some(budget) =>
        var left = budget
        groups.partition { group =>
          val fits = group.bytes <= left
          if (fits) left -= group.bytes
          fits
        }
    }
}

/** What an OPTIMIZE does with every file.
  *
  * @param groups the files to rewrite, the most useful group first
  * @param kept   the files that stay as they are
  */
final case class ClusteringPlan(groups: Seq[PlannedGroup], kept: Seq[PlannedFile]) {

  /** The files that stay only because of the budget. */
  def overBudget: Seq[PlannedFile] = kept.filter(_.reason == FileReason.OverBudget)
}
