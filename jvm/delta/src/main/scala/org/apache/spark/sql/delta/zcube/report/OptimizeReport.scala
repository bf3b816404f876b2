package org.apache.spark.sql.delta.zcube.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.commands.optimize.{DeletionVectorStats, OptimizeStats, ZOrderFileStats, ZOrderStats}
import org.apache.spark.sql.delta.skipping.clustering.{ClusteringFileStats, ClusteringStats}
import org.apache.spark.sql.delta.{DeltaConfigs, Snapshot}

import io.zcube.clustering.plan.OptimizeTask
import io.zcube.clustering.report.{RunDetails, WorkloadReport}
import io.zcube.clustering.run.{GroupOutcome, RewriteResult, RunResult}
import io.zcube.planning.DataFile

/** The result row of OPTIMIZE, with Delta's columns and metrics, and an additional column if
  * OPTIONS request it.
  */
object OptimizeReport {

  /** Delta's word for "every file of a partition is rewritten". */
  private val EveryFile = "all"

  /** Every file was to be rewritten, but some are left. */
  private val Full = "full"

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
    val cubes = CubeFigures.of(planned.considered, rewritten)
    if (task.declared) stats.clusteringStats = Some(clusteringStats(cubes))
    else {
      val strategy =
        if (left == 0) EveryFile else if (task.isFull) Full else task.planOptions.policy.name
      stats.zOrderStats = Some(zOrderStats(cubes, strategy))
    }
    val known =
      Seq[Any](snapshot.deltaLog.dataPath.toString, stats.toOptimizeMetrics)
    Row.fromSeq(if (task.options.details) known :+ RunDetails.json(result, workload) else known)
  }

  /** What Delta reports of cubes, of either kind.
    *
    * @param inCubes files of cubes that were considered
    * @param others  all others that were
    */
  private case class CubeFigures(
      inCubes: Seq[DataFile],
      others: Seq[DataFile],
      removed: Seq[DataFile],
      cubes: Long,
      newCubes: Long)

  private object CubeFigures {
    def of(considered: Seq[DataFile], rewritten: Seq[RewriteResult]): CubeFigures = {
      val (inCubes, others) = considered.partition(_.cube.exists(_.matches))
      CubeFigures(
        inCubes,
        others,
        rewritten.flatMap(_.removed),
        inCubes.flatMap(_.cube).map(_.id).distinct.size.toLong,
        rewritten.map(_.cubes.size.toLong).sum)
    }
  }

  private def clusteringStats(figures: CubeFigures): ClusteringStats = {
    def of(files: Seq[DataFile]) = ClusteringFileStats(files.size.toLong, bytesOf(files))
    ClusteringStats(
      inputZCubeFiles = of(figures.inCubes),
      inputOtherFiles = of(figures.others),
      inputNumZCubes = figures.cubes,
      mergedFiles = of(figures.removed),
      numOutputZCubes = figures.newCubes
    )
  }

  private def zOrderStats(figures: CubeFigures, strategy: String): ZOrderStats = {
    def of(files: Seq[DataFile]) = ZOrderFileStats(files.size.toLong, bytesOf(files))
    ZOrderStats(
      strategyName = strategy,
      inputCubeFiles = of(figures.inCubes),
      inputOtherFiles = of(figures.others),
      inputNumCubes = figures.cubes,
      mergedFiles = of(figures.removed),
      numOutputCubes = figures.newCubes
    )
  }

  private def bytesOf(files: Seq[DataFile]): Long = files.iterator.map(_.storedBytes).sum

  /** A file of that size; Delta's statistics need nothing else. */
  private def sized(file: DataFile): FileAction =
    AddFile(file.path, Map.empty, file.storedBytes, modificationTime = 0, dataChange = false)
}
