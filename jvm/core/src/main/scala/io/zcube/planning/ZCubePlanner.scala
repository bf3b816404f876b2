package io.zcube.planning

/** Plans which files are rewritten into which cubes. A pure function of the files and the options.
  *
  * Example: a table of one partial cube and 200 fresh files makes, under [[MergeAll]], a plan of one
  * cube of all files, and under [[LazyLeveling]] a cube of the fresh files if they are few beside the
  * cube, else one of all.
  */
final class ZCubePlanner(options: PlanOptions) {

  def plan(files: Seq[DataFile]): ClusteringPlan = {
    val candidates = CandidateFiles.of(files, options)
    lazy val space = RankSpace.of(files)
    val policy = if (options.full || options.force) MergeAll else options.policy.policy
    val merge = policy.merge(candidates, space, options)
    val cubes = merge.groups.flatMap(pack)
    val (within, over) = spend(cubes.sortBy(c => (-c.usefulness, -c.bytes, c.files.head.file.path)))
    val taken = (within ++ over).iterator.flatMap(_.files).map(_.file.path).toSet
    val idle = candidates.partial
      .flatMap(_.files)
      .filterNot(f => taken(f.path))
      .map(PlannedFile(_, FileReason.InCube))
    ClusteringPlan(
      within,
      candidates.kept ++ idle ++
        over.flatMap(_.files).map(_.copy(reason = FileReason.OverBudget)))
  }

  /** Neighbours in the first column go into one cube, so that cubes overlap little there. */
  private def pack(group: Seq[PlannedFile]): Seq[PlannedCube] = {
    val sorted =
      if (group.iterator.map(_.file.bytes).sum <= options.packBytes) group
      else group.sortBy(f => (f.file.ranges.lower.headOption.getOrElse(Long.MinValue), f.file.path))
    BinPacking.pack(sorted, options.packBytes).map(PlannedCube(_))
  }

  private def spend(cubes: Seq[PlannedCube]): (Seq[PlannedCube], Seq[PlannedCube]) =
    options.maxBytes match {
      case None => (cubes, Nil)
      case Some(budget) =>
        var left = budget
        cubes.partition { cube =>
          val fits = cube.bytes <= left
          if (fits) left -= cube.bytes
          fits
        }
    }
}
