package io.zcube.clustering.plan

import io.zcube.clustering.table.{ColumnPath, LayoutTag, TableVersion, WhereClause}
import io.zcube.layout.{ColumnWeights, FileCount}
import io.zcube.planning.{MergeAll, PlanOptions}
import io.zcube.sql.layout.LayoutRequest

/** What one OPTIMIZE by columns has to do.
  *
  * @param version    the table as it is read
  * @param where      files outside of it are left alone
  * @param columns    the clustering columns
  * @param clustered  whether they are the table's own (CLUSTER BY) and not the statement's (ZORDER BY)
  * @param isFull     whether FULL was said
  * @param weights    of the columns, normalised; empty if all are alike
  * @param workload   queries that files are to be skipped by
  * @param isAuto     whether it is auto compaction after a write, not a statement
  */
final case class OptimizeTask(
    version: TableVersion,
    where: WhereClause,
    columns: Seq[ColumnPath],
    clustered: Boolean,
    isFull: Boolean,
    options: OptimizeOptions,
    settings: OptimizeSettings,
    weights: Seq[Double] = Nil,
    workload: Seq[WorkloadQuery] = Nil,
    isAuto: Boolean = false) {

  /** The table as the user knows it, for job descriptions and messages. */
  val tableName: String = version.table.name

  /** What the tags of this task's files say. */
  def layoutTag: LayoutTag = LayoutTag(
    columns,
    options.curve,
    weights,
    Option.when(workload.nonEmpty)(WorkloadQuery.fingerprint(workload)),
    clustered)

  /** Size of the files to write: the statement's, or the session's. */
  def targetFileBytes: Long = options.maxFileSize.getOrElse(settings.maxFileBytes)

  /** The number of files for a group with this many rows. */
  def fileCount(group: RewriteGroup, rows: Long): Int =
    FileCount.of(group.liveBytes, targetFileBytes, rows, settings.maxRecords)

  /** The same where all rows are known: fewer where the most rows of a file decide. */
  def leastFileCount(group: RewriteGroup, rows: Long): Int =
    FileCount.least(group.liveBytes, targetFileBytes, rows, settings.maxRecords)

  /** How a group's rows are to be laid out. */
  def layoutRequest: LayoutRequest =
    LayoutRequest(
      options.curve,
      settings.ranges,
      settings.spread,
      settings.sort,
      layoutWeights,
      workload.map(_.ranges))

  /** What is cut by a column without minima and maxima, such as Delta's booleans, lets no query skip a
    * file.
    */
  private def layoutWeights: Seq[Double] = {
    val told = columns.map(version.hasStatistics)
    if (!options.curve.takesWeights || told.forall(identity) || !told.contains(true)) weights
    else {
      val asked = if (weights.isEmpty) columns.map(_ => 1.0) else weights
      asked.zip(told).map { case (weight, isTold) => if (isTold) weight else ColumnWeights.Nothing }
    }
  }

  def planOptions: PlanOptions = PlanOptions(
    policy =
      if (isFull) MergeAll else options.mergePolicy.getOrElse(settings.policy),
    targetFileBytes = targetFileBytes,
    maxRecords = settings.maxRecords,
    minCubeBytes = settings.leastCubeBytes(options),
    targetCubeBytes = options.targetCubeSize.getOrElse(settings.targetCubeBytes),
    maxDeletedShare = settings.maxDeletedRatio,
    fanOut = settings.fanOut,
    mergeShare = settings.mergeShare,
    overlapShare = settings.overlapShare,
    maxBytes = options.maxBytes,
    // ZORDER BY names its columns anew each time; files of others are then simply not in order.
    otherColumns = isFull || !(clustered || isAuto),
    // A default may change, as ZCube's did; nobody asked for a table to be rewritten for that.
    otherLayouts = isFull || (options.namesLayout && !(clustered || isAuto)),
    force = isFull && !clustered
  )
}
