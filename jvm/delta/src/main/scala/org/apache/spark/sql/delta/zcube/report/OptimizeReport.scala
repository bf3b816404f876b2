package org.apache.spark.sql.delta.zcube.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.DeltaConfigs
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.commands.optimize.{DeletionVectorStats, OptimizeStats, ZOrderFileStats, ZOrderStats}
import org.apache.spark.sql.delta.skipping.clustering.{ClusteringFileStats, ClusteringStats}
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.delta.zcube.plan.{OptimizeTask, RewriteGroup, RewritePlan}
import org.apache.spark.sql.delta.zcube.run.{GroupOutcome, RunResult}

import io.zcube.planning.PlannedFile
import io.zcube.quality.LayoutQuality

/** The row of OPTIMIZE's result, in the columns and with the metrics that Delta gives, and a column
  * more where OPTIONS ask for it.
  */
object OptimizeReport {

  /** Delta's word for "every file of a partition is rewritten". */
  private val EveryFile = "all"

  def row(
      session: SparkSession,
      task: OptimizeTask,
      result: RunResult,
      workload: WorkloadReport): Row = {
    val RunResult(planned, outcomes, startedAt) = result
    val rewritten = outcomes.collect { case GroupOutcome.Committed(group, _, _) => group }
    val removed = rewritten.flatMap(_.removed)
    val deleted = rewritten.flatMap(_.group.files).flatMap(file => Option(file.deletionVector))
    val columns = task.snapshot.metadata.schema.size
    val indexed = DeltaConfigs.DATA_SKIPPING_NUM_INDEXED_COLS.fromMetaData(task.snapshot.metadata)

    val stats = OptimizeStats(startTimeMs = startedAt)
    stats.addedFilesSizeStats.merge(rewritten.flatMap(_.added))
    stats.removedFilesSizeStats.merge(removed)
    stats.numPartitionsOptimized =
      rewritten.map(_.group.partitionValues).distinct.size.toLong
    stats.numBins = rewritten.size.toLong
    stats.numBatches =
      outcomes.collect { case GroupOutcome.Committed(_, v, _) => v }.distinct.size.toLong
    stats.totalConsideredFiles = planned.considered.size.toLong
    stats.totalFilesSkipped = planned.considered.size.toLong - removed.size
    stats.totalClusterParallelism = session.sparkContext.defaultParallelism.toLong
    stats.numTableColumns = columns.toLong
    stats.numTableColumnsWithStats = math.min(indexed, columns).toLong
    stats.deletionVectorStats = Option.when(deleted.nonEmpty)(
      DeletionVectorStats(deleted.size.toLong, deleted.map(_.cardinality).sum))
    val (members, strangers) = planned.considered.partition(_._2.exists(_.matches))
    val cubes = members.flatMap(_._2).map(_.id).distinct.size.toLong
    val (inCubes, others) = (members.map(_._1), strangers.map(_._1))
    if (task.clustered) {
      def of(files: Seq[FileAction]) =
        ClusteringFileStats(files.size.toLong, files.map(_.getFileSize).sum)
      stats.clusteringStats = Some(
        ClusteringStats(
          inputZCubeFiles = of(inCubes),
          inputOtherFiles = of(others),
          inputNumZCubes = cubes,
          mergedFiles = ClusteringFileStats(removed.size.toLong, removed.flatMap(_.size).sum),
          numOutputZCubes =
            rewritten.size.toLong
        ))
    } else {
      def of(files: Seq[AddFile]) = ZOrderFileStats(files.size.toLong, files.map(_.size).sum)
      stats.zOrderStats = Some(
        ZOrderStats(
          strategyName =
            if (removed.size == planned.considered.size) EveryFile
            else task.options.mergePolicy.getOrElse(task.settings.policy).name,
          inputCubeFiles = of(inCubes),
          inputOtherFiles = of(others),
          inputNumCubes = cubes,
          mergedFiles = ZOrderFileStats(removed.size.toLong, removed.flatMap(_.size).sum),
          numOutputCubes =
            rewritten.size.toLong
        ))
    }
    val known =
      Seq[Any](task.snapshot.deltaLog.dataPath.toString, stats.toOptimizeMetrics)
    Row.fromSeq(if (task.options.details) known :+ details(planned, outcomes, workload) else known)
  }

  /** What became of each cube, and of the files that stay. */
  private def details(
      planned: RewritePlan,
      outcomes: Seq[GroupOutcome],
      workload: WorkloadReport): String = {
    val cubes = outcomes.map { outcome =>
      val group = outcome.group
      val planned = Map[String, Any](
        "partition" -> group.partitionValues,
        "files" -> group.files.size,
        "bytes" -> group.bytes,
        "reasons" -> PlannedFile.counts(group.planned.files))
      planned ++ (outcome match {
        case GroupOutcome.Committed(rewritten, version, committingMs) =>
          val figures = rewritten.figures
          Map[String, Any](
            "state" -> "committed",
            "id" -> rewritten.cubeId,
            "version" -> version,
            "filesAdded" -> rewritten.added.size,
            "bytesAdded" -> rewritten.added.map(_.size).sum,
            "samplingMs" -> figures.samplingMs,
            "writingMs" -> figures.writingMs,
            "committingMs" -> committingMs
          ) ++ figures.cpuMs.map("cpuMs" -> _) ++
            figures.before.map("before" -> quality(_)) ++
            figures.after.map("after" -> quality(_))
        case GroupOutcome.Dropped(_, conflict) =>
          Map("state" -> "dropped", "why" -> conflict.getMessage)
        case GroupOutcome.NotStarted(_) => Map("state" -> "left", "why" -> "maxDuration is over")
      })
    }
    val over = planned.plan.overBudget
    JsonUtils.toJson(
      Map[String, Any](
        "cubes" -> cubes,
        "kept" -> planned.kept,
        "left" -> Map[String, Any](
          "files" -> (over.size + notStarted(outcomes).map(_.files.size).sum),
          "bytes" -> (PlannedFile.bytesOf(over) + notStarted(outcomes).map(_.bytes).sum)
        ),
        "workload" -> workload.after()
      ))
  }

  private def quality(of: LayoutQuality): Map[String, Any] = Map.empty[String, Any] ++
    of.averageDepth.map("averageDepth" -> _) ++
    of.skippingEffectiveness.map("skippingEffectiveness" -> _)

  private def notStarted(outcomes: Seq[GroupOutcome]): Seq[RewriteGroup] =
    outcomes.collect { case GroupOutcome.NotStarted(group) => group }
}
