package io.zcube.clustering.plan

import io.zcube.clustering.table.{FileSelection, OutsideWhere}
import io.zcube.planning._

/** A plan, and the files that it covers.
  *
  * @param selection  the files that WHERE selects
  * @param groups     the files to rewrite, the most useful group first
  * @param considered all files of the selection, with their cubes
  * @param outside    how many files of a clustered table WHERE excludes
  */
final case class RewritePlan(
    selection: FileSelection,
    plan: ClusteringPlan,
    groups: Seq[RewriteGroup],
    considered: Seq[DataFile],
    outside: Long) {

  /** The number of cubes that are planned. */
  def cubes: Int = groups.map(_.cubes).sum

  /** This and what a second pass rewrites of what stays. */
  def and(second: RewritePlan): RewritePlan = {
    val first = PlannedFile.pathsOf(plan.groups.iterator.flatMap(_.files))
    val again = second.plan.groups.filterNot(_.files.exists(f => first(f.file.path)))
    val both = plan.groups ++ again
    val taken = PlannedFile.pathsOf(again.iterator.flatMap(_.files))
    val left = without(taken)
    left.copy(plan = left.plan.copy(groups = both), groups = RewritePlan.numbered(both))
  }

  /** Without some of the files that stay. */
  def without(taken: collection.Set[String]): RewritePlan =
    if (taken.isEmpty) this
    else copy(plan = plan.copy(kept = plan.kept.filterNot(f => taken(f.file.path))))

  /** The number of files that stay, for each reason. */
  def kept: Map[String, Long] = {
    val planned = PlannedFile.counts(plan.kept).map { case (reason, count) =>
      reason -> count.toLong
    }
    if (outside == 0) planned else planned + (FileReason.NotSelected.text -> outside)
  }
}

object RewritePlan {

  /** Reads metadata and plans; reads no data. */
  def of(task: OptimizeTask): RewritePlan = {
    val selection = task.version.select(task.where)
    val files = selection.files(Some(task.layoutTag))
    val cubes = files.iterator.flatMap(_.cube).filter(_.sameColumns).map(_.id).toSet
    val options = task.planOptions
    // Ranges matter only if there are cubes to merge with, or if one job can't hold all files.
    val ranges: String => KeyRanges =
      if (files.exists(_.cube.exists(_.matches)) || new JobDivision(options).mayDivide(files))
        selection.ranges(task.columns)
      else _ => KeyRanges.Unknown
    val outside =
      if (task.declared && task.where.picks) selection.outside(cubes) else OutsideWhere.Nothing
    val described = files.map(file => file.copy(ranges = ranges(file.path)))
    val plan =
      new ZCubePlanner(options).planPartitions(
        byPartition(task, described.filterNot(file => task.pass.leaves(file.partition))),
        outside.cubes)
    RewritePlan(selection, plan, numbered(plan.groups), described, outside.files)
  }

  private def numbered(groups: Seq[PlannedGroup]): Seq[RewriteGroup] = {
    val ends = groups.scanLeft(0)(_ + _.cubes)
    groups.zip(ends).map { case (group, before) => RewriteGroup(group, before + 1, ends.last) }
  }

  /** A partition is one value in one spelling. Delta treats two spellings of a timestamp as one
    * partition if they are equal in this session's time zone; in another they may differ.
    */
  private def byPartition(task: OptimizeTask, described: Seq[DataFile]): Seq[Seq[DataFile]] =
    if (task.version.partitionColumns.isEmpty) Seq(described)
    else described.groupBy(
      _.partition).values.map(p => p.map(_.path).min -> p).toSeq.sortBy(_._1).map(_._2)
}
