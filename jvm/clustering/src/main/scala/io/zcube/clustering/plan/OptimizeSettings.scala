package io.zcube.clustering.plan

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.MergePolicy
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.{LayoutRequest, WeightedBoxes}

/** The settings of one run: the engine's and the table format's, with Delta's names for Delta
  * tables.
  *
  * @param maxFileBytes      `spark.databricks.delta.optimize.maxFileSize`
  * @param maxThreads        `spark.databricks.delta.optimize.maxThreads`
  * @param batchBytes        `spark.databricks.delta.optimize.batchSize`: bytes of
  *                          input for each commit, and at most for each job, though at
  *                          least a cube's; one commit for each job if not set
  * @param maxDeletedRatio   `spark.databricks.delta.optimize.maxDeletedRowsRatio`
  * @param minCubeBytes      `….optimize.clustering.mergeStrategy.minCubeSize.threshold`
  * @param targetCubeBytes   `….optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize`
  * @param maxJobBytes       maximum number of bytes that one job rewrites, at least a cube's
  * @param ranges            `spark.databricks.io.skipping.mdc.rangeId.max`, if the user set it
  * @param spread            `spark.databricks.io.skipping.mdc.addNoise`
  * @param sort              whether rows are sorted inside files: `spark.zcube.layout.sortWithinFiles`,
  *                          or `spark.databricks.io.skipping.mdc.sortWithinFiles` if only that is set
  * @param maxRecords        `spark.sql.files.maxRecordsPerFile`
  * @param sampleRowsPerFile rows sampled for each file
  * @param freshBelow        files in no cube are rewritten only if they have fewer bytes
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
    maxJobBytes: Long,
    policy: MergePolicy,
    fanOut: Int,
    mergeShare: Double,
    overlapShare: Double,
    freshBelow: Option[Long] = None) {

  /** How to lay rows out by a curve, with these settings. */
  def layoutRequest(
      curve: LayoutKind,
      weights: Seq[Double],
      workload: Seq[WeightedBoxes] = Nil): LayoutRequest =
    LayoutRequest(curve, ranges, spread, sort, weights, workload, maxRecords)

  /** The target size of cubes must not be below the stable size. For settings, the plan uses the
    * larger of the two, as Delta does; but a target in the statement is intentional, so it is
    * rejected.
    */
  def check(options: OptimizeOptions): Unit =
    options.targetCubeSize.filter(_ < effectiveMinCubeBytes(options)).foreach { target =>
      throw ZCubeErrors.invalidOption(
        "targetCubeSize",
        target.toString,
        s"at least minCubeSize, which is ${effectiveMinCubeBytes(options)} bytes here")
    }

  /** Bytes from which a cube is stable. */
  def effectiveMinCubeBytes(options: OptimizeOptions): Long =
    options.minCubeSize.getOrElse(minCubeBytes)
}
