package org.apache.spark.sql.delta.zcube.plan

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.table.{CubeTags, FileFilter, LoggedStatistics, OutsideWhere, PlanningRanges}

import io.zcube.planning.{ClusteringPlan, CubeTag, DataFile, FileReason, PlannedFile, ZCubePlanner}

/** A plan, and the files that it is about.
  *
  * @param groups     the new cubes' files, the most useful cube first
  * @param considered the files that WHERE takes in, with the cubes that they are in
  * @param outside    how many files of a clustered table WHERE leaves out
  */
final case class RewritePlan(
    plan: ClusteringPlan,
    groups: Seq[RewriteGroup],
    considered: Seq[(AddFile, Option[CubeTag])],
    outside: Long) {

  /** How many files stay, for each reason. */
  def kept: Map[String, Long] = {
    val planned = PlannedFile.counts(plan.kept).map { case (reason, count) =>
      reason -> count.toLong
    }
    if (outside == 0) planned else planned + (FileReason.NotSelected.text -> outside)
  }
}

object RewritePlan {

  /** Reads the log and plans; reads no data. */
  def of(session: SparkSession, task: OptimizeTask): RewritePlan = {
    val tags = new CubeTags(task.layoutTag)
    val statistics = LoggedStatistics.of(session, task.snapshot, task.where.filters)
    val files = statistics.files
    val tagged = files.map(file => file -> tags.read(file))
    val cubes = tagged.iterator.flatMap(_._2).filter(_.matches).map(_.id).toSet
    val options = task.planOptions
    def isTaken(file: AddFile, tag: Option[CubeTag]) =
      task.settings.freshBelow.forall(file.size < _) || tag.exists(_.matches)
    // Extents matter only where there are cubes to merge with, and to a plan of several cubes.
    val bytes = files.iterator.map(_.size).sum
    val ranges =
      if (cubes.nonEmpty || bytes > options.packBytes) {
        // Of a table as a whole nothing is gained by asking for each file by name.
        val named = Option.when(task.where.picks)(FileFilter(files.iterator.map(_.path)))
        PlanningRanges.of(session, task.columns, statistics.parsed(named))
      } else PlanningRanges.Unknown
    val outside =
      if (task.clustered && task.where.picks) {
        OutsideWhere.of(session, task.snapshot, files.map(_.path), cubes)
      } else OutsideWhere.Nothing
    val described = tagged.map { case (file, tag) =>
      DataFile(
        file.path,
        RewriteGroup.liveBytesOf(file),
        file.numLogicalRecords,
        deletedShare(file),
        tag,
        ranges.of(file.path),
        isTaken(file, tag)
      )
    }
    val byPath = files.iterator.map(f => f.path -> f).toMap
    val partitions = byPartition(task, byPath, described)
    val plan = new ZCubePlanner(options).planPartitions(partitions, outside.cubes)
    val groups = plan.cubes.zipWithIndex.map { case (cube, i) =>
      val members = cube.files.map(f => byPath(f.file.path)).sortBy(_.path)
      RewriteGroup(members.head.partitionValues, members, cube, i + 1, plan.cubes.size)
    }
    RewritePlan(plan, groups, tagged, outside.files)
  }

  /** As Delta does: a file with deleted rows but no count of its rows is worth rewriting. */
  private def deletedShare(file: AddFile): Double =
    if (file.deletionVector == null) 0.0 else file.deletedToPhysicalRecordsRatio.getOrElse(1.0)

  /** A partition is one value in one spelling. Delta takes two spellings of a timestamp for one
    * partition if they are the same in this session's time zone; in another they may differ.
    */
  private def byPartition(
      task: OptimizeTask,
      files: Map[String, AddFile],
      described: Seq[DataFile]): Seq[Seq[DataFile]] =
    if (task.snapshot.metadata.partitionColumns.isEmpty) Seq(described)
    else {
      described
        .groupBy(f => files(f.path).partitionValues)
        .values
        .toSeq
        .sortBy(_.map(_.path).min)
    }
}
