package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf

import io.zcube.sql.ZCubeConf

/** The settings of one run, Delta's own among them.
  *
  * @param targetFileBytes   `spark.databricks.delta.optimize.maxFileSize`
  * @param maxThreads        `spark.databricks.delta.optimize.maxThreads`
  * @param batchBytes        `spark.databricks.delta.optimize.batchSize`: a commit for each so many
  *                          bytes of input; one commit for all if not set
  * @param ranges            `spark.databricks.io.skipping.mdc.rangeId.max`, if the user set it
  * @param spread            `spark.databricks.io.skipping.mdc.addNoise`
  * @param sort              whether rows are sorted inside files
  * @param maxRecords        `spark.sql.files.maxRecordsPerFile`
  * @param sampleRowsPerFile rows sampled for each file
  */
final case class OptimizeSettings(
    targetFileBytes: Long,
    maxThreads: Int,
    batchBytes: Option[Long],
    ranges: Option[Int],
    spread: Boolean,
    sort: Boolean,
    maxRecords: Long,
    sampleRowsPerFile: Int)

object OptimizeSettings {

  def of(conf: SQLConf, context: DeltaOptimizeContext): OptimizeSettings = OptimizeSettings(
    context.maxFileSize.getOrElse(conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE)),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_BATCH_SIZE),
    // By default ZCube picks a power of two, which fills the curve's squares.
    Option.when(conf.contains(DeltaSQLConf.MDC_NUM_RANGE_IDS.key))(
      conf.getConf(DeltaSQLConf.MDC_NUM_RANGE_IDS)),
    conf.getConf(DeltaSQLConf.MDC_ADD_NOISE),
    conf.getConf(ZCubeConf.SortWithinFiles),
    conf.maxRecordsPerFile,
    conf.getConf(ZCubeConf.SampleRowsPerFile)
  )
}
