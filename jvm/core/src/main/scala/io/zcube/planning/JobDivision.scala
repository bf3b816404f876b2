package io.zcube.planning

/** Divides files that are to be clustered together into jobs.
  *
  * One job clusters all files, and what it writes is cut into cubes: cubes made of a few files each,
  * of a table in no order, would all cover everything, and queries would read every one of them.
  *
  * If one job can't hold all files, each job gets a region of space. Where most files extend over
  * several regions, each job gets neighbours in the first column, and its cubes overlap others'.
  *
  * No job is so small that its cube would be merged again: that could go on indefinitely.
  */
final class JobDivision(options: PlanOptions) {
  import JobDivision._

  /** Whether more than one job is possible, so that the files' ranges matter. */
  def mayDivide(files: Iterable[DataFile]): Boolean = {
    val maxBytes = math.min(maxBytesWithoutBudget(files), options.maxBytes.getOrElse(Long.MaxValue))
    // If a file elsewhere lacks row counts, those of a partition may still make many files.
    DataFile.bytesOf(files) > maxBytes || (options.maxRecords > 0 && DataFile.rowsOf(files).isEmpty)
  }

  def divide(group: Seq[PlannedFile]): Seq[Job] = {
    val bytes = PlannedFile.bytesOf(group)
    val sizes = CubeSizes(options.minCubeBytes, maxBytesWithoutBudget(group.map(_.file)))
    def isTight(budget: Long) =
      bytes > budget && budget < math.max(sizes.target.toDouble, 2 * sizes.min) * Slack
    options.maxBytes.filter(isTight) match {
      // A job over budget would never run. That a small cube is merged again is the lesser evil.
      case Some(budget) =>
        val maxBytes = math.min(sizes.target, budget)
        byRegion(group, CubeSizes(0, maxBytes))(BinPacking.pack(_, maxBytes)(_.file.bytes))
      case None => byRegion(group, sizes)(sizes.cut(_)(_.file.bytes))
    }
  }

  /** Divides cubes that overlap, since they were made by several jobs, into regions.
    *
    * Their files are small boxes, unlike those that the jobs read. What can't be divided into regions
    * of a job stays, and so does what only one job made, and what is too little for a cube: WHERE
    * may select a part. As in [[divide]], a region that can't be two cubes may be larger than a job.
    */
  def regroup(overlapping: Seq[PlannedFile]): Seq[Job] =
    if (overlapping.isEmpty) Nil
    else {
      val job = maxBytesWithoutBudget(overlapping.map(_.file))
      val budget = options.maxBytes.getOrElse(Long.MaxValue)
      val sizes = CubeSizes(options.minCubeBytes, math.min(job, (budget / Slack).toLong))
      def isRegion(files: Seq[PlannedFile]) = {
        val bytes = PlannedFile.bytesOf(files)
        bytes >= options.minCubeBytes && bytes <= budget &&
        (bytes <= Slack * job || bytes < 2 * sizes.min) &&
        files.flatMap(_.file.cube).flatMap(_.overlapping).distinct.size > 1
      }
      RegionSplit
        .split(overlapping, sizes, MaxRegroupStraddling, RegroupEvenness, RegroupTolerance)
        .filter(isRegion)
        .map(files => Job(files.map(_.copy(reason = FileReason.Overlaps)), overlapping = false))
    }

  private def byRegion(group: Seq[PlannedFile], sizes: CubeSizes)(
      pack: Seq[PlannedFile] => Seq[Seq[PlannedFile]]): Seq[Job] =
    RegionSplit.split(group, sizes, MaxStraddling).flatMap { region =>
      val jobs = pack(region.sorted(ByPlace))
      jobs.map { files =>
        // A cube that isn't stable is merged with others anyway.
        val isStable = PlannedFile.bytesOf(files) >= options.minCubeBytes
        Job(files, overlapping = isStable && jobs.size > 1)
      }
    }

  /** The maximum bytes of a job that writes these files, ignoring the budget: at least a cube's, even
    * if that doesn't fill a file.
    */
  private def maxBytesWithoutBudget(files: Iterable[DataFile]): Long = {
    val bytes = DataFile.bytesOf(files)
    val count = options.unlimitedFileCount(bytes, DataFile.rowsOf(files))
    val byFiles = (bytes / count * options.maxJobFiles).toLong
    Seq(
      math.min(options.maxJobBytes, byFiles),
      options.targetCubeBytes,
      options.minCubeBytes,
      1L).max
  }
}

object JobDivision {

  /** The files of a job.
    *
    * @param overlapping whether what it writes overlaps what other jobs write
    */
  final case class Job(files: Seq[PlannedFile], overlapping: Boolean)

  /** The share of the smaller side's bytes that may straddle a cut between jobs: there the two regions
    * overlap.
    */
  private val MaxStraddling = 0.25

  private val MaxRegroupStraddling = 0.5

  private val RegroupEvenness = 2.0

  private val RegroupTolerance = 0.2

  /** Files aren't divided, so a job may be a little larger than planned. */
  private val Slack = 1.1

  /** By the first column, then by path. It allocates no tuples for comparisons, since there may be
    * a million files.
    */
  private val ByPlace: Ordering[PlannedFile] = (a, b) => {
    val order = java.lang.Long.compare(first(a), first(b))
    if (order != 0) order else a.file.path.compareTo(b.file.path)
  }

  private def first(planned: PlannedFile): Long = {
    val ranges = planned.file.ranges
    if (ranges.dimensions == 0 || ranges.isEmpty(0)) Long.MinValue else ranges.lower(0)
  }
}
