package org.apache.spark.sql.delta.zcube.plan

import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.internal.SQLConf

import io.zcube.planning.MergePolicy
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.errors.ZCubeErrors

/** The settings of one run, Delta's own among them.
  *
  * @param maxFileBytes      `spark.databricks.delta.optimize.maxFileSize`
  * @param maxThreads        `spark.databricks.delta.optimize.maxThreads`
  * @param batchBytes        `spark.databricks.delta.optimize.batchSize`: a commit for each so many
  *                          bytes of input; one commit for each cube if not set
  * @param maxDeletedRatio   `spark.databricks.delta.optimize.maxDeletedRowsRatio`
  * @param minCubeBytes      `….optimize.clustering.mergeStrategy.minCubeSize.threshold`
  * @param targetCubeBytes   `….optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize`
  * @param ranges            `spark.databricks.io.skipping.mdc.rangeId.max`, if the user set it
  * @param spread            `spark.databricks.io.skipping.mdc.addNoise`
  * @param sort              whether rows are sorted inside files: `spark.zcube.layout.sortWithinFiles`,
  *                          or `spark.databricks.io.skipping.mdc.sortWithinFiles` if only that is set
  * @param maxRecords        `spark.sql.files.maxRecordsPerFile`
  * @param sampleRowsPerFile rows sampled for each file
  * @param freshBelow        files in no cube are taken only if they have fewer bytes
  */
final case class OptimizeSettings(
    maxFileBytes: Long,
    maxThreads: Int,
    batchBytes: Option[Long],
    ranges: Option[Int],
    spread: Boolean,
    sort: Boolean,
    maxRecords: Long,
    sampleRowsPerFile: Int,
    maxDeletedRatio: Double,
    minCubeBytes: Long,
    targetCubeBytes: Long,
    policy: MergePolicy,
    fanOut: Int,
    mergeShare: Double,
    overlapShare: Double,
    freshBelow: Option[Long] = None) {

  /** No cube is to be filled to less than what makes it stable. Of settings the plan takes the greater,
    * as Delta does; but a user who writes a target into the statement means it.
    */
  def check(options: OptimizeOptions): Unit =
    options.targetCubeSize.filter(_ < leastCubeBytes(options)).foreach { target =>
      throw ZCubeErrors.invalidOption(
        "targetCubeSize",
        target.toString,
        s"at least minCubeSize, which is ${leastCubeBytes(options)} bytes here")
    }

  /** Bytes from which on a cube is stable. */
  def leastCubeBytes(options: OptimizeOptions): Long =
    options.minCubeSize.getOrElse(minCubeBytes)
}

object OptimizeSettings {

  def of(conf: SQLConf, context: DeltaOptimizeContext): OptimizeSettings = OptimizeSettings(
    context.maxFileSize.getOrElse(conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_FILE_SIZE)),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_MAX_THREADS),
    conf.getConf(DeltaSQLConf.DELTA_OPTIMIZE_BATCH_SIZE),
    // By default ZCube picks a power of two, which fills the curve's squares.
    Option.when(conf.contains(DeltaSQLConf.MDC_NUM_RANGE_IDS.key))(
      conf.getConf(DeltaSQLConf.MDC_NUM_RANGE_IDS)),
    conf.getConf(DeltaSQLConf.MDC_ADD_NOISE),
    // Delta's is off by default, ZCube's on; so Delta's counts only where the user set it.
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
    MergePolicy.find(conf.getConf(ZCubeConf.MergePolicy)).get,
    conf.getConf(ZCubeConf.MergeFanOut),
    conf.getConf(ZCubeConf.MergeShare),
    conf.getConf(ZCubeConf.MergeOverlapShare),
    context.minFileSize
  )
}
