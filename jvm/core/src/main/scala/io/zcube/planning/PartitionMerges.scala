package io.zcube.planning

/** What is merged in a partition.
  *
  * @param outside the parts of these files' cubes that WHERE excludes, by cube id
  */
final private[planning] class PartitionMerges(
    files: Seq[DataFile],
    outside: Map[String, CubeRest],
    space: => RankSpace,
    options: PlanOptions) {

  private val all = CandidateFiles.of(files, options, outside)
  private val marked = all.overlapping ++ all.rests
  private val waits = options.regrouping == Regrouping.Never

  /** Jobs that regroup what earlier jobs divided. */
  val regions: Seq[JobDivision.Job] =
    if (waits) Nil
    else {
      new JobDivision(options)
        .regroup(marked.flatMap(_.files).map(PlannedFile(_, FileReason.KeptOverlapping)))
    }

  /** The files, and the cubes of overlapping jobs that aren't merged. What is left of such cubes when
    * nothing can be regrouped any more is merged like small ones.
    */
  val (candidates: CandidateFiles, overlapping: Seq[ZCube]) =
    if (regions.isEmpty && !waits) (all.copy(partial = all.partial ++ all.rests), all.overlapping)
    else (all, marked)

  private val resized: Seq[Option[Seq[PlannedFile]]] = {
    val sizes = new FileSizes(options)
    options.policy.merge(candidates, space, options).map(sizes.kept)
  }

  /** Whether the files that are rewritten because of their size get closer to the target. */
  def isWorthwhile: Boolean = resized.forall(_.isDefined)

  def merges: Seq[Seq[PlannedFile]] = resized.flatten
}
