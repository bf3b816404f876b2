package org.apache.spark.sql.delta.zcube.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.commands.optimize.{DeletionVectorStats, OptimizeStats, ZOrderFileStats, ZOrderStats}
import org.apache.spark.sql.delta.skipping.clustering.{ClusteringFileStats, ClusteringStats}
import org.apache.spark.sql.delta.{DeltaConfigs, Snapshot}

import io.zcube.clustering.plan.OptimizeTask
import io.zcube.clustering.report.{RunDetails, WorkloadReport}
import io.zcube.clustering.run.{GroupOutcome, RunResult}
import io.zcube.planning.DataFile

/** The result row of OPTIMIZE, with Delta's columns and metrics, and an additional column if
  * OPTIONS request it.
  */
object OptimizeReport {

  /** Delta's word for "every file of a partition is rewritten". */
  private val EveryFile = "all"

  def row(
      session: SparkSession,
      snapshot: Snapshot,
      task: OptimizeTask,
      result: RunResult,
      workload: WorkloadReport): Row = {
    val RunResult(planned, outcomes, startedAt) = result
    val rewritten = result.committed
    val removed = rewritten.flatMap(_.removed)
    // A second pass removes what the first one wrote.
    val paths = removed.iterator.map(_.path).toSet
    val left = planned.considered.count(file => !paths(file.path))
    val deleted = removed.flatMap(_.deletedRows)
    val columns = snapshot.metadata.schema.size
    val indexed = DeltaConfigs.DATA_SKIPPING_NUM_INDEXED_COLS.fromMetaData(snapshot.metadata)

    val stats = OptimizeStats(startTimeMs = startedAt)
    stats.addedFilesSizeStats.merge(rewritten.flatMap(_.added).map(sized))
    stats.removedFilesSizeStats.merge(removed.map(sized))
    stats.numPartitionsOptimized =
      rewritten.map(_.group.partition).distinct.size.toLong
    stats.numBins = rewritten.size.toLong
    stats.numBatches =
      outcomes.collect { case GroupOutcome.Committed(_, v, _) => v }.distinct.size.toLong
    stats.totalConsideredFiles = planned.considered.size.toLong
    stats.totalFilesSkipped = left.toLong
    stats.totalClusterParallelism = session.sparkContext.defaultParallelism.toLong
    stats.numTableColumns = columns.toLong
    stats.numTableColumnsWithStats = math.min(indexed, columns).toLong
    stats.deletionVectorStats = Option.when(deleted.nonEmpty)(
      DeletionVectorStats(deleted.size.toLong, deleted.sum))
    val (inCubes, others) = planned.considered.partition(_.cube.exists(_.matches))
    val cubes = inCubes.flatMap(_.cube).map(_.id).distinct.size.toLong
    val newCubes = rewritten.map(_.cubes.size.toLong).sum
    def bytesOf(files: Seq[DataFile]): Long = files.iterator.map(_.storedBytes).sum
    if (task.declared) {
      def of(files: Seq[DataFile]) = ClusteringFileStats(files.size.toLong, bytesOf(files))
      stats.clusteringStats = Some(
        ClusteringStats(
          inputZCubeFiles = of(inCubes),
          inputOtherFiles = of(others),
          inputNumZCubes = cubes,
          mergedFiles = of(removed),
          numOutputZCubes =
            newCubes
        ))
    } else {
      def of(files: Seq[DataFile]) = ZOrderFileStats(files.size.toLong, bytesOf(files))
      stats.zOrderStats = Some(
        ZOrderStats(
          strategyName =
            if (left == 0) EveryFile
            else task.planOptions.policy.name,
          inputCubeFiles = of(inCubes),
          inputOtherFiles = of(others),
          inputNumCubes = cubes,
          mergedFiles = of(removed),
          numOutputCubes =
            newCubes
        ))
    }
    val known =
      Seq[Any](snapshot.deltaLog.dataPath.toString, stats.toOptimizeMetrics)
    Row.fromSeq(if (task.options.details) known :+ RunDetails.json(result, workload) else known)
  }

  /** A file of that size; Delta's statistics need nothing else. */
  private def sized(file: DataFile): FileAction =
    AddFile(file.path, Map.empty, file.storedBytes, modificationTime = 0, dataChange = false)
}
