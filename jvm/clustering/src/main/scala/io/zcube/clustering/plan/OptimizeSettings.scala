package io.zcube.clustering.plan

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.PlanOptions
import io.zcube.sql.layout.{BoxedQuery, LayoutRequest}

/** The settings of one run. A table format takes them from the session.
  *
  * @param plan              what planning needs; the statement's options and kind replace some of it
  * @param maxThreads        most jobs that run at once
  * @param batchBytes        input of each commit, and at most of each job, though at least a cube's;
  *                          one commit for each job if None
  * @param ranks             ranks of each column in a curve; a power of two that fits if None
  * @param sort              whether rows are sorted inside files
  * @param sampleRowsPerFile rows sampled for each file
  * @param statementFileBytes the size of files that a statement makes, for auto compaction where it
  *   merges new files into theirs
  */
final case class OptimizeSettings(
    plan: PlanOptions,
    maxThreads: Int,
    batchBytes: Option[Long],
    ranks: Option[Int],
    sort: Boolean,
    sampleRowsPerFile: Int,
    statementFileBytes: Option[Long] = None) {

  /** A batch of the user's size is committed as a whole or not at all. */
  def commitsWholeBatches: Boolean = batchBytes.isDefined

  /** How to lay rows out by a curve, with these settings. */
  def layoutRequest(
      curve: LayoutKind,
      weights: Seq[Double],
      workload: Seq[BoxedQuery] = Nil): LayoutRequest =
    LayoutRequest(curve, ranks, plan.splitsValues, weights, workload, plan.maxRecords)
}
