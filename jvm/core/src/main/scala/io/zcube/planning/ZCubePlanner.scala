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
    val partitioned = partitions.map(planOne(_, outside))
    val (within, over) = spend(
      partitioned.flatMap(_.groups).sortBy(c => (-c.usefulness, -c.bytes, c.files.head.file.path)))
    val parts = mergesInParts(partitioned, PlannedGroup.bytesOf(within))
    val taken = PlannedFile.pathsOf(parts.iterator.flatMap(_.files))
    val kept = partitioned.flatMap(_.kept) ++
      over.flatMap(_.files).map(_.copy(reason = FileReason.OverBudget))
    ClusteringPlan(within ++ parts, kept.filterNot(f => taken(f.file.path)))
  }

  private def planOne(
      files: Seq[DataFile],
      outside: Map[String, CubeRest]): PlannedPartition = {
    val candidates = CandidateFiles.of(files, options, outside)
    lazy val space = RankSpace.of(files)
    val extents = new Extents(files)
    val merges = options.policy.merge(candidates, space, options)
    val (affordable, beyond) = merges.map(afford).unzip
    val first = affordable.flatMap(jobs.divide).map { job =>
      // The rest of what earlier runs divided overlaps that.
      val overlaps = candidates.overlapping.nonEmpty &&
        PlannedFile.bytesOf(job.files) >= options.minCubeBytes
      job.copy(overlapping = job.overlapping || overlaps)
    }
    // What overlaps is regrouped when all of it is clustered.
    val again =
      if (!options.regroups || first.exists(_.overlapping)) Nil
      else jobs.regroup(candidates.overlapping)
    val groups = (first ++ again).map(planned(_, extents))
    val dropped = beyond.flatten.map(_.copy(reason = FileReason.OverBudget))
    val rewritten = PlannedFile.pathsOf(groups.iterator.flatMap(_.files))
    val over = PlannedFile.pathsOf(dropped.iterator)
    def isIdle(path: String) = !rewritten(path) && !over(path)
    val idle = candidates.partial.flatMap(_.files).filter(f => isIdle(f.path))
    val waiting = candidates.fresh.filter(f => isIdle(f.file.path))
    val stay = idle.map(PlannedFile(_, FileReason.InCube)) ++
      waiting.map(_.copy(reason = FileReason.Waits))
    val stable = candidates.overlapping.filter(f => isIdle(f.file.path))
    val kept = candidates.kept ++ dropped ++ stay ++ stable
    if (dropped.isEmpty) PlannedPartition(groups, kept, extents, None)
    else {
      val cubes = candidates.partial
        .map(cube => ZCube(cube.id, cube.files.filterNot(f => rewritten(f.path))))
      PlannedPartition(groups, kept, extents, Some(cubes))
    }
  }

  /** Parts of merges that don't fit as a whole, for what is left of the budget. */
  private def mergesInParts(
      partitions: Seq[PlannedPartition],
      spent: Long): Seq[PlannedGroup] =
    options.maxBytes.filter(_ > spent).fold(Seq.empty[PlannedGroup]) { budget =>
      val each = RegionalMerges.MaxSteps / math.max(1, partitions.count(_.beyond.isDefined))
      val parts = for {
        partition <- partitions
        cubes <- partition.beyond.toSeq
        part <- new RegionalMerges(cubes, options, each).within(budget - spent)
      } yield part -> partition.extents
      val groups = parts
        .sortBy { case (part, _) => (-part.gain, part.files.head.file.path) }
        .flatMap { case (part, extents) => jobs.divide(part.files).map(planned(_, extents)) }
      spend(groups, spent)._1
    }

  private def planned(job: JobDivision.Job, extents: Extents): PlannedGroup =
    PlannedGroup(job.files, options.cubeSizes, job.overlapping)(extents)

  /** The files of a group to rewrite, and those over budget. Of a merge that doesn't fit, fresh files
    * are written alone.
    */
  private def afford(group: Seq[PlannedFile]): (Seq[PlannedFile], Seq[PlannedFile]) = {
    val bytes = PlannedFile.bytesOf(group)
    if (options.maxBytes.exists(bytes > _)) group.partition(f => PlannedGroup.isFresh(f.reason))
    else (group, Nil)
  }

  private def spend(
      groups: Seq[PlannedGroup],
      spent: Long = 0): (Seq[PlannedGroup], Seq[PlannedGroup]) =
    options.maxBytes match {
      case None => (groups, Nil)
      case Some(budget) =>
        var left = budget - spent
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

/** @param kept   all other files
  * @param beyond its cubes, if a merge of them is over budget as a whole
  */
final private case class PlannedPartition(
    groups: Seq[PlannedGroup],
    kept: Seq[PlannedFile],
    extents: Extents,
    beyond: Option[Seq[ZCube]])
