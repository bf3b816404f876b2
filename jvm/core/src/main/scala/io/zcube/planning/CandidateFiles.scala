package io.zcube.planning

/** The files of a table or a partition, grouped by what planning may do with them.
  *
  * @param due     files to rewrite for their own sake, with the reason
  * @param partial cubes that may be merged, by id
  * @param kept    files that stay, with the reason
  * @param overlapping stable cubes that several jobs made; they stay unless they are regrouped by
  *   region
  * @param rests what is left of such cubes
  */
final case class CandidateFiles(
    due: Seq[PlannedFile],
    partial: Seq[ZCube],
    kept: Seq[PlannedFile],
    overlapping: Seq[ZCube] = Nil,
    rests: Seq[ZCube] = Nil)

object CandidateFiles {

  /** @param outside the parts of these files' cubes that WHERE excludes, by cube id */
  def of(
      files: Seq[DataFile],
      options: PlanOptions,
      outside: Map[String, CubeRest]): CandidateFiles = {
    val due = Seq.newBuilder[PlannedFile]
    val kept = Seq.newBuilder[PlannedFile]
    val partial = Seq.newBuilder[ZCube]
    val overlapping = Seq.newBuilder[ZCube]
    val rests = Seq.newBuilder[ZCube]

    val (inCubes, others) = files.partition(_.cube.exists(isInOrder(_, options)))
    others.foreach { file =>
      if (options.dueBelow.exists(file.storedBytes >= _))
        kept += PlannedFile(file, FileReason.NotSmall)
      else if (file.cube.isEmpty) due += PlannedFile(file, FileReason.Fresh)
      else if (file.cube.exists(_.sameColumns)) due += PlannedFile(file, FileReason.OtherLayout)
      else if (options.otherColumns || options.force)
        due += PlannedFile(file, FileReason.OtherColumns)
      else kept += PlannedFile(file, FileReason.KeptOtherColumns)
    }
    val cubes = inCubes.groupBy(_.cube.get.id).toSeq.sortBy(_._1)
    def restOf(id: String) = outside.getOrElse(id, CubeRest.Nothing)
    val worn =
      inCubes.flatMap(file => reasonToRewrite(file, options).map(PlannedFile(file, _)))
    due ++= worn
    val sizes = new FileSizes(options)
    val bad = (if (options.resizes) cubes else Nil)
      .flatMap { case (id, members) => sizes.badOf(members, restOf(id)) }
      .filter(reasonToRewrite(_, options).isEmpty)
    val resized = sizes.worthwhile(bad, due.result().map(_.file))
    due ++= resized.map(PlannedFile(_, FileReason.FileSize))

    val taken = PlannedFile.pathsOf(worn.iterator) ++ resized.map(_.path)
    cubes.foreach { case (id, members) =>
      val good = members.filterNot(f => taken(f.path))
      if (!members.head.cube.exists(_.matches)) {
        kept ++= good.map(PlannedFile(_, FileReason.KeptOtherLayout))
      } else if (good.nonEmpty) {
        // Files that WHERE excludes count for the cube's size.
        val isStable = DataFile.bytesOf(good) + restOf(id).bytes >= options.minCubeBytes
        val isOverlapping = members.head.cube.exists(_.overlapping.isDefined)
        if (isStable && isOverlapping) overlapping += ZCube(id, good)
        else if (isStable) kept ++= good.map(PlannedFile(_, FileReason.Stable))
        else if (isOverlapping) rests += ZCube(id, good)
        else partial += ZCube(id, good)
      }
    }
    CandidateFiles(
      due.result().sortBy(_.file.path),
      partial.result(),
      kept.result(),
      overlapping.result(),
      rests.result())
  }

  /** A cube with another curve still lets queries skip files. It is rewritten only if another
    * layout is requested. Nothing is merged with it, because its files and new ones would overlap.
    */
  private def isInOrder(cube: CubeTag, options: PlanOptions): Boolean =
    cube.matches || (cube.sameColumns && !options.otherLayouts && !options.force)

  /** Why a file of a cube is rewritten, whatever its size. */
  private def reasonToRewrite(file: DataFile, options: PlanOptions): Option[FileReason] =
    if (options.force) Some(FileReason.Full)
    else Option.when(file.deletedShare > options.maxDeletedShare)(FileReason.DeletedRows)
}
