package io.zcube.planning

/** Plans which files are rewritten into which cubes, as a pure function of the files and the
  * options.
  *
  * Example: for a table with one partial cube and 200 fresh files, [[MergeAll]] plans one cube of
  * all files; [[LazyLeveling]] plans a cube of the fresh files if they are few compared with the
  * existing cube, otherwise one of all files.
  */
final class ZCubePlanner(options: PlanOptions) {
  import ZCubePlanner._

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
    val (due, others) = partitioned.flatMap(_.groups)
      .sortBy(c => (-c.usefulness, c.repeated, -c.bytes, c.files.head.file.path))
      .partition(_.dueBytes > 0)
    val (within, overDue) = spend(due)
    // Of a merge that other groups leave no bytes for, files that are due are written alone too.
    val (alone, beyond) = spend(overDue.flatMap(_.due), PlannedGroup.bytesOf(within))
    val pieces = dueInParts(partitioned, beyond, within ++ alone)
    val (merged, overMerges) = spend(others, PlannedGroup.bytesOf(within ++ alone ++ pieces))
    val (groups, over) = (within ++ alone ++ pieces ++ merged, overDue ++ overMerges)
    val parts = mergesInParts(partitioned, over, groups)
    val taken = PlannedFile.pathsOf((alone ++ pieces ++ parts).iterator.flatMap(_.files))
    val kept = partitioned.flatMap(_.kept) ++
      over.flatMap(_.files).map(_.copy(reason = FileReason.OverBudget))
    ClusteringPlan(
      groups ++ parts,
      kept.filterNot(f => taken(f.file.path)),
      partitioned.exists(_.hasRegions))
  }

  private def planOne(
      files: Seq[DataFile],
      outside: Map[String, CubeRest]): PlannedPartition = {
    lazy val space = RankSpace.of(files)
    val resizing = new PartitionMerges(files, outside, space, options)
    val partition =
      if (resizing.isWorthwhile) resizing
      else new PartitionMerges(files, outside, space, options.copy(resizes = false))
    import partition.{candidates, merges, overlapping, regions}
    val extents = new Extents(files)
    val (affordable, beyond) = merges.map(afford).unzip
    val boxes =
      KeyRanges.byNulls(overlapping.flatMap(_.files).map(_.ranges))(identity).filter(_.nonEmpty)
        .map(KeyRanges.union)
    val first = affordable.flatMap(jobs.divide).map { job =>
      job.copy(overlapping = job.overlapping || overlaps(job, boxes, space))
    }
    // What overlaps is regrouped when all of it is clustered.
    val again =
      if (options.regrouping != Regrouping.Now || first.exists(_.overlapping)) Nil else regions
    val groups = (first ++ again).map(planned(_, extents))
    val dropped = beyond.flatten.map(_.copy(reason = FileReason.OverBudget))
    val rewritten = PlannedFile.pathsOf(groups.iterator.flatMap(_.files))
    val over = PlannedFile.pathsOf(dropped.iterator)
    def isIdle(path: String) = !rewritten(path) && !over(path)
    val idle = candidates.partial.flatMap(_.files).filter(f => isIdle(f.path))
    val waiting = candidates.due.filter(f => isIdle(f.file.path))
    val stay = idle.map(PlannedFile(_, FileReason.InCube)) ++
      waiting.map(_.copy(reason = FileReason.Waits))
    val stable = overlapping.flatMap(_.files).filter(f => isIdle(f.path))
      .map(PlannedFile(_, FileReason.KeptOverlapping))
    val kept = candidates.kept ++ dropped ++ stay ++ stable
    PlannedPartition(
      groups,
      kept,
      extents,
      candidates.partial,
      isBeyond = dropped.nonEmpty,
      hasRegions = regions.nonEmpty)
  }

  /** Whether a job's cubes lie over marked ones: it may have the rest of what earlier runs divided.
    *
    * @param marked the boxes of those
    */
  private def overlaps(
      job: JobDivision.Job,
      marked: Seq[KeyRanges],
      space: => RankSpace): Boolean =
    marked.nonEmpty && PlannedFile.bytesOf(job.files) >= options.minCubeBytes && {
      val shared = KeyRanges.byNulls(job.files.map(_.file))(_.ranges).map { files =>
        val box = KeyRanges.union(files.map(_.ranges))
        marked.iterator.map(space.overlap(box, _)).max * DataFile.bytesOf(files)
      }.sum
      shared > RankSpace.MinOverlap * PlannedFile.bytesOf(job.files)
    }

  /** Parts of groups that are due, for what is left of the budget, in partitions of which no file that
    * is due gets any of it: a group that never fits beside the new files of the night would never be
    * clustered.
    *
    * @param over  groups that other groups leave no bytes for, with files that are due only
    * @param taken the other groups
    */
  private def dueInParts(
      partitions: Seq[PlannedPartition],
      over: Seq[PlannedGroup],
      taken: Seq[PlannedGroup]): Seq[PlannedGroup] =
    options.maxBytes.filter(_ => over.nonEmpty).fold(Seq.empty[PlannedGroup]) { budget =>
      val least = math.min(options.minCubeBytes, budget / MinPart)
      var spent = PlannedGroup.bytesOf(taken)
      val served =
        PlannedFile.pathsOf(taken.iterator.flatMap(_.files).filter(f => f.reason.isDue))
      val starving = PlannedFile.pathsOf(
        partitions.iterator.map(_.groups.iterator.flatMap(_.files).toSeq)
          .filterNot(_.exists(f => served(f.file.path))).flatten)
      over.filter(_.files.exists(f => starving(f.file.path))).flatMap { group =>
        val left = budget - spent
        if (left < math.max(1L, least)) Nil
        else {
          // Where the group overlaps others, so do its parts.
          val parts = new JobDivision(options.copy(maxBytes = Some(left))).divide(group.files)
            .map(job => group.part(job.files, job.overlapping || group.overlapping))
          val (within, _) = spend(parts, spent)
          spent += PlannedGroup.bytesOf(within)
          within
        }
      }
    }

  /** Parts of merges that don't fit as a whole, for what is left of the budget.
    *
    * @param over  groups that other groups leave no bytes for
    * @param taken the other groups
    */
  private def mergesInParts(
      partitions: Seq[PlannedPartition],
      over: Seq[PlannedGroup],
      taken: Seq[PlannedGroup]): Seq[PlannedGroup] = {
    val spent = PlannedGroup.bytesOf(taken)
    options.maxBytes.filter(_ > spent).fold(Seq.empty[PlannedGroup]) { budget =>
      val waiting = PlannedFile.pathsOf(over.iterator.filter(_.merges).flatMap(_.files))
      val left = partitions.filter(partition =>
        partition.isBeyond || partition.groups.exists(_.files.exists(f => waiting(f.file.path))))
      val rewritten = PlannedFile.pathsOf(taken.iterator.flatMap(_.files))
      val tables = for {
        partition <- left
        files = for {
          cube <- partition.cubes
          file <- cube.files if !rewritten(file.path)
        } yield cube.id -> file
        some <- KeyRanges.byNulls(files)(_._2.ranges)
      } yield {
        val cubes = some.groupMap(_._1)(_._2).map { case (id, members) => ZCube(id, members) }
        cubes.toSeq -> partition.extents
      }
      val each = RegionalMerges.MaxSteps / math.max(1, tables.size)
      val parts = for {
        (cubes, extents) <- tables
        part <- new RegionalMerges(cubes, options, each).within(budget - spent)
      } yield part -> extents
      val groups = parts
        .sortBy { case (part, _) => (-part.gain, part.files.head.file.path) }
        .flatMap { case (part, extents) => jobs.divide(part.files).map(planned(_, extents)) }
      spend(groups, spent)._1
    }
  }

  private def planned(job: JobDivision.Job, extents: Extents): PlannedGroup =
    PlannedGroup(job.files, options.cubeSizes, job.overlapping)(extents)

  /** The files of a group to rewrite, and those over budget. Of a merge that doesn't fit, those
    * that are due are written alone.
    */
  private def afford(group: Seq[PlannedFile]): (Seq[PlannedFile], Seq[PlannedFile]) = {
    val bytes = PlannedFile.bytesOf(group)
    if (options.maxBytes.exists(bytes > _)) group.partition(f => f.reason.isDue)
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

private object ZCubePlanner {

  /** With less than this part of the budget left, no files that are due are written in parts. */
  private val MinPart = 4
}

/** What an OPTIMIZE does with every file.
  *
  * @param groups the files to rewrite, the most useful group first
  * @param kept   the files that stay as they are
  * @param hasRegions whether there are cubes of jobs that overlap, and regions to divide them into
  */
final case class ClusteringPlan(
    groups: Seq[PlannedGroup],
    kept: Seq[PlannedFile],
    hasRegions: Boolean = false) {

  /** The files that stay only because of the budget. */
  def overBudget: Seq[PlannedFile] = kept.filter(_.reason == FileReason.OverBudget)
}

/** @param kept     all other files
  * @param cubes    those that may be merged
  * @param isBeyond whether a merge of them is over budget as a whole
  * @param hasRegions as in [[ClusteringPlan]]
  */
final private case class PlannedPartition(
    groups: Seq[PlannedGroup],
    kept: Seq[PlannedFile],
    extents: Extents,
    cubes: Seq[ZCube],
    isBeyond: Boolean,
    hasRegions: Boolean)
