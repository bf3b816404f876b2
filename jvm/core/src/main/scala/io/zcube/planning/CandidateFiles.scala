package io.zcube.planning

import io.zcube.layout.FileCount

/** The files of a table or a partition, grouped by what planning may do with them.
  *
  * @param fresh   files to rewrite in any case, with the reason
  * @param partial cubes that may be merged, by id
  * @param kept    files that stay, with the reason
  */
final case class CandidateFiles(
    fresh: Seq[PlannedFile],
    partial: Seq[ZCube],
    kept: Seq[PlannedFile])

object CandidateFiles {

  /** @param outside the parts of these files' cubes that WHERE excludes, by cube id */
  def of(
      files: Seq[DataFile],
      options: PlanOptions,
      outside: Map[String, CubeRest] = Map.empty): CandidateFiles = {
    val fresh = Seq.newBuilder[PlannedFile]
    val kept = Seq.newBuilder[PlannedFile]
    val partial = Seq.newBuilder[ZCube]

    val (inCubes, others) = files.partition(_.cube.exists(isInOrder(_, options)))
    others.foreach { file =>
      if (!file.selected) kept += PlannedFile(file, FileReason.NotSelected)
      else if (file.cube.isEmpty) fresh += PlannedFile(file, FileReason.Fresh)
      else if (options.otherColumns || options.force || file.cube.exists(_.sameColumns))
        fresh += PlannedFile(file, FileReason.OtherColumns)
      else kept += PlannedFile(file, FileReason.KeptOtherColumns)
    }
    inCubes.groupBy(_.cube.get.id).toSeq.sortBy(_._1).foreach { case (id, members) =>
      val rest = outside.getOrElse(id, CubeRest.Nothing)
      val badlySized = badlySizedOf(members, rest, options)
      val good = members.filter { file =>
        reasonToRewrite(file, badlySized, options) match {
          case Some(reason) if file.selected =>
            fresh += PlannedFile(file, reason)
            false
          case _ => true
        }
      }
      // Files that WHERE excludes count for the cube's size, but aren't merged.
      val (selected, others) = good.partition(_.selected)
      kept ++= others.map(PlannedFile(_, FileReason.NotSelected))
      if (!members.head.cube.exists(_.matches)) {
        kept ++= selected.map(PlannedFile(_, FileReason.KeptOtherLayout))
      } else if (good.iterator.map(_.bytes).sum + rest.bytes >= options.minCubeBytes) {
        kept ++= selected.map(PlannedFile(_, FileReason.Stable))
      } else if (selected.nonEmpty) {
        partial += ZCube(id, selected)
      }
    }
    CandidateFiles(fresh.result().sortBy(_.file.path), partial.result(), kept.result())
  }

  /** A cube with another curve still lets queries skip files. It is rewritten only if another
    * layout is requested. Nothing is merged with it, because its files and new ones would overlap.
    */
  private def isInOrder(cube: CubeTag, options: PlanOptions): Boolean =
    cube.matches || (cube.sameColumns && !options.otherLayouts && !options.force)

  private def reasonToRewrite(
      file: DataFile,
      badlySized: DataFile => Boolean,
      options: PlanOptions): Option[FileReason] =
    if (options.force) Some(FileReason.Full)
    else if (file.deletedShare > options.maxDeletedShare) Some(FileReason.DeletedRows)
    else if (badlySized(file)) Some(FileReason.FileSize)
    else None

  /** Files far from the target size, if rewriting the cube would bring them closer. A small cube
    * has small files and is fine as it is: otherwise every run would rewrite it.
    */
  private def badlySizedOf(
      members: Seq[DataFile],
      rest: CubeRest,
      options: PlanOptions): DataFile => Boolean = {
    val target = options.targetFileBytes
    val bytes = members.iterator.map(_.bytes).sum + rest.bytes
    val rows = rest.rows.filter(_ => members.forall(_.rows.isDefined))
      .fold(Long.MaxValue)(_ + members.iterator.map(_.rows.get).sum)
    val files = members.size + rest.files
    val limit = if (rows == Long.MaxValue) 0L else options.maxRecords
    val wanted = FileCount.of(bytes, target, rows, limit)
    if (files > 2L * wanted + 1) _.bytes < target / 2
    else if (2L * files < wanted) _.bytes > target * 2
    else _ => false
  }
}
