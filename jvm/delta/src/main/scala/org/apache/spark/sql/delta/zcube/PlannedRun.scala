package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile

import io.zcube.planning.{ClusteringPlan, CubeTag, DataFile, KeyRanges, ZCubePlanner}

/** A plan, and the files that it is about.
  *
  * @param groups     the new cubes' files, the most useful cube first
  * @param considered the files that WHERE takes in, with the cubes that they are in
  */
final case class PlannedRun(
    plan: ClusteringPlan,
    groups: Seq[FileGroup],
    considered: Seq[(AddFile, Option[CubeTag])])

object PlannedRun {

  /** Reads the log and plans; reads no data. */
  def of(session: SparkSession, task: ClusteringTask): PlannedRun = {
    val tags = new CubeTags(task)
    val (files, selected) = candidates(task)
    val tagged = files.map(file => file -> tags.read(file))
    val options = task.settings.planOptions(task)
    // Extents matter only where there are cubes to merge with, and to a plan of several cubes.
    val bytes = files.iterator.map(_.size).sum
    val ranges =
      if (tagged.exists(_._2.exists(_.matches)) || bytes > options.packBytes) {
        StatisticsRanges.of(session, task.snapshot, task.columns)
      } else Map.empty[String, KeyRanges]
    val described = tagged.map { case (file, tag) =>
      DataFile(
        file.path,
        FileGroup.liveBytesOf(file),
        file.numLogicalRecords,
        deletedShare(file),
        tag,
        ranges.getOrElse(file.path, KeyRanges.Unknown),
        selected(file.path)
      )
    }
    val byPath = files.iterator.map(f => f.path -> f).toMap
    val plan =
      new ZCubePlanner(options).planPartitions(byPartition(session, task, byPath, described))
    val groups = plan.cubes.zipWithIndex.map { case (cube, i) =>
      val members = cube.files.map(f => byPath(f.file.path)).sortBy(_.path)
      FileGroup(members.head.partitionValues, members, cube, i + 1, plan.cubes.size)
    }
    PlannedRun(plan, groups, tagged.filter { case (file, _) => selected(file.path) })
  }

  /** All files that planning must know of, and which of them may be rewritten. */
  private def candidates(task: ClusteringTask): (Seq[AddFile], String => Boolean) = {
    def scan(all: Boolean) = task.snapshot
      .filesForScan(if (all) Nil else task.where.filters, keepNumRecords = true)
      .files
    if (!task.where.picks || !task.clustered) (scan(all = false), _ => true)
    else {
      val selected = scan(all = false).map(_.path).toSet
      (scan(all = true), selected)
    }
  }

  /** As Delta does: a file with deleted rows but no count of its rows is worth rewriting. */
  private def deletedShare(file: AddFile): Double =
    if (file.deletionVector == null) 0.0 else file.deletedToPhysicalRecordsRatio.getOrElse(1.0)

  /** Partition values are compared by type, as Delta does, so that two spellings of one timestamp
    * are one partition.
    */
  private def byPartition(
      session: SparkSession,
      task: ClusteringTask,
      files: Map[String, AddFile],
      described: Seq[DataFile]): Seq[Seq[DataFile]] = {
    val schema = task.snapshot.metadata.physicalPartitionSchema
    if (schema.isEmpty) Seq(described)
    else {
      described
        .groupBy(f => files(f.path).normalizedPartitionValues(session, schema))
        .values
        .toSeq
        .sortBy(_.map(_.path).min)
    }
  }
}
