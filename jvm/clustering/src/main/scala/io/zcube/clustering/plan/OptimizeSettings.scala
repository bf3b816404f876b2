package io.zcube.clustering.plan

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.MergePolicy
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.{LayoutRequest, BoxedQuery}

/** The settings of one run. A table format takes them from the session; sizes are in bytes.
  *
  * @param maxFileBytes      target size of the files to be written
  * @param maxThreads        most jobs that run at once
  * @param batchBytes        input of each commit, and at most of each job, though at least a cube's;
  *                          one commit for each job if None
  * @param ranges            ranges of each column in a curve; a power of two that fits if None
  * @param spread            whether rows with equal keys may be spread over several files
  * @param sort              whether rows are sorted inside files
  * @param maxRecords        most rows of a file; 0 for no limit
  * @param sampleRowsPerFile rows sampled for each file
  * @param maxDeletedRatio   a file with a larger share of deleted rows is rewritten
  * @param minCubeBytes      a cube of at least this size is stable
  * @param targetCubeBytes   size up to which a new cube is filled
  * @param maxJobBytes       maximum number of bytes that one job rewrites, at least a cube's
  * @param policy            how cubes are merged
  * @param fanOut            a size class is merged once it has this many cubes
  * @param mergeShare        small cubes are merged into the largest once together they have this
  *                          share of the bytes that they overlap there
  * @param overlapShare      files that a new cube overlaps join it early up to this share of its
  *                          bytes
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
      workload: Seq[BoxedQuery] = Nil): LayoutRequest =
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
