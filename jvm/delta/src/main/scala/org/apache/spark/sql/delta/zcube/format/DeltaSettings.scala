package org.apache.spark.sql.delta.zcube.format

import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf

import io.zcube.clustering.plan.OptimizeSettings
import io.zcube.planning.MergePolicy
import io.zcube.sql.conf.ZCubeConf

/** The settings of a run on a Delta table: ZCube's settings, and those of Delta's own OPTIMIZE. */
object DeltaSettings {

  def of(conf: SQLConf, context: DeltaOptimizeContext): OptimizeSettings = OptimizeSettings(
    context.maxFileSize.getOrElse(conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE)),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_BATCH_SIZE),
    // By default ZCube chooses a power of two, which fills the curve's squares.
    Option.when(conf.contains(DeltaSQLConf.MDC_NUM_RANGE_IDS.key))(
      conf.getConf(DeltaSQLConf.MDC_NUM_RANGE_IDS)),
    conf.getConf(DeltaSQLConf.MDC_ADD_NOISE),
    // Delta's setting is off by default, ZCube's is on; so Delta's applies only if the user set it.
    if (conf.contains(ZCubeConf.SortWithinFiles.key)) conf.getConf(ZCubeConf.SortWithinFiles)
    else if (conf.contains(DeltaSQLConf.MDC_SORT_WITHIN_FILES.key)) {
      conf.getConf(DeltaSQLConf.MDC_SORT_WITHIN_FILES)
    } else conf.getConf(ZCubeConf.SortWithinFiles),
    conf.maxRecordsPerFile,
    conf.getConf(ZCubeConf.SampleRowsPerFile),
    context.maxDeletedRowsRatio.getOrElse(
      conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_DELETED_ROWS_RATIO)),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_CLUSTERING_MIN_CUBE_SIZE),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_CLUSTERING_TARGET_CUBE_SIZE),
    conf.getConf(ZCubeConf.MaxJobBytes),
    MergePolicy.find(conf.getConf(ZCubeConf.MergePolicy)).get,
    conf.getConf(ZCubeConf.MergeFanOut),
    conf.getConf(ZCubeConf.MergeShare),
    conf.getConf(ZCubeConf.MergeOverlapShare),
    context.minFileSize
  )
}
