package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.Row
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.DeltaConfigs
import org.apache.spark.sql.delta.commands.optimize.{DeletionVectorStats, OptimizeStats, ZOrderFileStats, ZOrderStats}

/** The row of OPTIMIZE's result, in the columns and with the metrics that Delta gives. */
object ZOrderReport {

  /** Delta's word for "every file of a partition is rewritten". */
  private val StrategyName = "all"

  def row(
      session: SparkSession,
      task: ZOrderTask,
      consideredFiles: Int,
      groups: Seq[FileGroup],
      batches: Seq[Seq[RewrittenGroup]],
      startedAt: Long): Row = {
    val rewritten = batches.flatten
    val removed = rewritten.flatMap(_.removed)
    val deleted = rewritten.flatMap(_.group.files).flatMap(file => Option(file.deletionVector))
    val input = ZOrderFileStats(removed.size.toLong, removed.flatMap(_.size).sum)
    val columns = task.snapshot.metadata.schema.size
    val indexed = DeltaConfigs.DATA_SKIPPING_NUM_INDEXED_COLS.fromMetaData(task.snapshot.metadata)

    val stats = OptimizeStats(startTimeMs = startedAt)
    stats.addedFilesSizeStats.merge(rewritten.flatMap(_.added))
    stats.removedFilesSizeStats.merge(removed)
    stats.numPartitionsOptimized = groups.size.toLong
    stats.numBins = groups.size.toLong
    stats.numBatches = batches.size.toLong
    stats.totalConsideredFiles = consideredFiles.toLong
    stats.totalFilesSkipped = consideredFiles.toLong - removed.size
    stats.totalClusterParallelism = session.sparkContext.defaultParallelism.toLong
    stats.numTableColumns = columns.toLong
    stats.numTableColumnsWithStats = math.min(indexed, columns).toLong
    stats.deletionVectorStats = Option.when(deleted.nonEmpty)(
      DeletionVectorStats(deleted.size.toLong, deleted.map(_.cardinality).sum))
    stats.zOrderStats = Some(
      ZOrderStats(
        strategyName = StrategyName,
        inputCubeFiles = ZOrderFileStats(0, 0),
        inputOtherFiles = input,
        inputNumCubes = 0,
        mergedFiles = input,
        numOutputCubes =
          groups.size.toLong
      ))
    Row(task.snapshot.deltaLog.dataPath.toString, stats.toOptimizeMetrics)
  }
}
