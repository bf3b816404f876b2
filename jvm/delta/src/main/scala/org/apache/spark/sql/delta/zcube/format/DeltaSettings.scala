package org.apache.spark.sql.delta.zcube.format

import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf

import io.zcube.clustering.plan.OptimizeSettings
import io.zcube.planning.{MergePolicy, PlanOptions, Regrouping}
import io.zcube.sql.conf.ZCubeConf

/** The settings of a run on a Delta table: ZCube's settings, and those of Delta's own OPTIMIZE. */
object DeltaSettings {

  def of(conf: SQLConf, context: DeltaOptimizeContext): OptimizeSettings = OptimizeSettings(
    plan = planOf(conf, context),
    maxThreads = conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS),
    batchBytes = conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_BATCH_SIZE),
    // By default ZCube chooses a power of two, which fills the curve's squares.
    ranks = Option.when(conf.contains(DeltaSQLConf.MDC_NUM_RANGE_IDS.key))(
      conf.getConf(DeltaSQLConf.MDC_NUM_RANGE_IDS)),
    // Delta's setting is off by default, ZCube's is on; so Delta's applies only if the user set it.
    sort =
      if (conf.contains(ZCubeConf.SortWithinFiles.key)) conf.getConf(ZCubeConf.SortWithinFiles)
      else if (conf.contains(DeltaSQLConf.MDC_SORT_WITHIN_FILES.key)) {
        conf.getConf(DeltaSQLConf.MDC_SORT_WITHIN_FILES)
      } else conf.getConf(ZCubeConf.SortWithinFiles),
    sampleRowsPerFile = conf.getConf(ZCubeConf.SampleRowsPerFile),
    statementFileBytes = Some(conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE))
  )

  private def planOf(conf: SQLConf, context: DeltaOptimizeContext) = PlanOptions(
    policy = MergePolicy.find(conf.getConf(ZCubeConf.MergePolicy)).get,
    targetFileBytes =
      context.maxFileSize.getOrElse(conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE)),
    maxRecords = conf.maxRecordsPerFile,
    minCubeBytes = conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_CLUSTERING_MIN_CUBE_SIZE),
    targetCubeBytes = conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_CLUSTERING_TARGET_CUBE_SIZE),
    dueBelow = context.minFileSize,
    maxDeletedShare = context.maxDeletedRowsRatio.getOrElse(
      conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_DELETED_ROWS_RATIO)),
    fanOut = conf.getConf(ZCubeConf.MergeFanOut),
    mergeShare = conf.getConf(ZCubeConf.MergeShare),
    overlapShare = conf.getConf(ZCubeConf.MergeOverlapShare),
    maxJobBytes = conf.getConf(ZCubeConf.MaxJobBytes),
    splitsValues = conf.getConf(DeltaSQLConf.MDC_ADD_NOISE),
    regrouping =
      if (conf.getConf(ZCubeConf.Regroup)) PlanOptions.Default.regrouping else Regrouping.Never
  )
}
