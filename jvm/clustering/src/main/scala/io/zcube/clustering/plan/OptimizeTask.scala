package io.zcube.clustering.plan

import org.apache.spark.sql.classic.SparkSession

import io.zcube.clustering.table.{ColumnPath, LayoutTag, TableVersion, WhereClause}
import io.zcube.layout.{ColumnWeights, FileCount}
import io.zcube.planning._
import io.zcube.sql.layout.LayoutRequest

/** The task of one OPTIMIZE by columns.
  *
  * @param version    the table version to read
  * @param where      files that it excludes are not touched
  * @param columns    the clustering columns
  * @param declared   whether they are the table's own (CLUSTER BY) and not the statement's (ZORDER BY)
  * @param isFull     whether FULL was given
  * @param weights of the columns, normalized; empty if all are equal
  * @param workload   queries that should skip files
  * @param isAuto     whether it is auto compaction after a write, not a statement
  * @param pass       what it does with cubes that overlap because several jobs made them
  */
final case class OptimizeTask(
    version: TableVersion,
    where: WhereClause,
    columns: Seq[ColumnPath],
    declared: Boolean,
    isFull: Boolean,
    options: OptimizeOptions,
    settings: OptimizeSettings,
    weights: Seq[Double] = Nil,
    workload: Seq[ResolvedQuery] = Nil,
    isAuto: Boolean = false,
    pass: OptimizePass = OptimizePass.Only) {

  /** The table as the user knows it, for job descriptions and messages. */
  val tableName: String = version.table.name

  /** The tags of this task's files. */
  def layoutTag: LayoutTag = LayoutTag(
    columns,
    options.curve,
    weights,
    Option.when(workload.nonEmpty)(ResolvedQuery.fingerprint(workload)),
    declared)

  /** From the statement or the session. */
  private val stated: PlanOptions = options.over(settings.plan)

  /** Size of the files to write. */
  def targetFileBytes: Long = stated.targetFileBytes

  /** The number of files for a group with this many rows; `rows` is None if statistics are missing. */
  def fileCount(group: RewriteGroup, rows: Option[Long]): Int =
    stated.copy(targetFileBytes = targetOf(group)).fileCount(group.liveBytes, rows)

  /** The same if all rows are known: fewer files if the row limit per file decides. */
  def minFileCount(group: RewriteGroup, rows: Long): Int =
    FileCount.min(group.liveBytes, targetOf(group), rows, stated.maxRecords)

  /** Where auto compaction merges new files into a layout that a statement made of much larger ones,
    * the files are made as by a statement.
    */
  private def targetOf(group: RewriteGroup): Long =
    if (!isAuto) targetFileBytes
    else {
      val sizes = group.files.filter(_.cube.exists(_.matches)).map(_.bytes).sorted
      // Half of the bytes are in files of that size or larger; a few small or large ones are of no matter.
      val upTo = sizes.scanLeft(0L)(_ + _).tail
      val median = sizes.zip(upTo).collectFirst { case (s, bytes) if bytes >= upTo.last / 2 => s }
      settings.statementFileBytes
        .filter(_ => median.exists(_ / 2 > targetFileBytes))
        .fold(targetFileBytes)(math.max(_, targetFileBytes))
    }

  /** How to lay out rows.
    *
    * @param extents of a group's rows, if they don't cover the table: see [[PlannedGroup]]
    */
  def layoutRequest(extents: => Seq[Double] = Nil): LayoutRequest =
    settings.layoutRequest(
      options.curve,
      layoutWeights(extents),
      workload.flatMap(_.ranges))

  /** A job is committed as a whole, so it has at most a batch, unless a cube is larger. Auto
    * compaction must not take long, as the writer waits for it: each job has a cube or two.
    */
  private def jobBytes: Long =
    if (isAuto) 0L
    else math.min(settings.plan.maxJobBytes, settings.batchBytes.getOrElse(Long.MaxValue))

  private lazy val hasMinima: Seq[Boolean] = columns.map(version.hasMinima)

  /** A side of a box costs a query as many files as it is long, which is what weights multiply, so
    * the extents are factors. Cuts by a column without minima and maxima, such as Delta's booleans,
    * let no query for its values skip a file.
    */
  private def layoutWeights(extents: => Seq[Double]): Seq[Double] =
    if (!options.curve.takesWeights) weights
    else {
      def orEven(some: Seq[Double]) = if (some.isEmpty) columns.map(_ => 1.0) else some
      val scaled = ColumnWeights.normalized(
        orEven(weights).zip(orEven(extents)).map { case (weight, extent) => weight * extent })
      if (hasMinima.forall(identity) || !hasMinima.contains(true)) scaled
      else
        orEven(scaled).zip(hasMinima).map { case (weight, isKnown) =>
          if (isKnown) weight else ColumnWeights.NoStatistics
        }
    }

  /** A writer waits for auto compaction, and has not asked for more than it wrote. */
  def regroups: Boolean = !isAuto && stated.regrouping != Regrouping.Never

  def planOptions: PlanOptions = stated.copy(
    policy = if (pass.onlyRegroups) MergeNothing else if (isFull) MergeAll else stated.policy,
    maxJobBytes = jobBytes,
    // ZORDER BY names its columns each time; files with other columns are then simply not
    // clustered.
    otherColumns = isFull || !(declared || isAuto),
    // A default may change, as ZCube's did, and must not cause a table to be rewritten.
    otherLayouts = isFull || (options.namesLayout && !(declared || isAuto)),
    // Its target is that of files just written. A layout that OPTIMIZE has made has larger files.
    resizes = !isAuto,
    regrouping = if (regroups) pass.regrouping else Regrouping.Never,
    force = isFull && !declared && !pass.onlyRegroups
  )
}

object OptimizeTask {

  /** The task of a statement, whose columns, weights and sizes are checked.
    *
    * Throws ZCUBE_UNORDERED_TYPE, ZCUBE_INVALID_OPTION, or what is wrong with weights and workload.
    *
    * @param read the options. Most of their errors come at analysis; those that depend on the
    *   session's curve come after those of the columns.
    */
  def of(
      session: SparkSession,
      version: TableVersion,
      where: WhereClause,
      columns: Seq[ColumnPath],
      declared: Boolean,
      isFull: Boolean,
      read: => OptimizeOptions,
      settings: OptimizeSettings): OptimizeTask = {
    columns.foreach(_.checkOrdered())
    val options = read
    options.check(settings.plan)
    OptimizeTask(
      version,
      where,
      columns,
      declared,
      isFull,
      options,
      settings,
      ColumnWeightResolver(options.weights, columns, session.sessionState.conf.resolver),
      ResolvedQuery.resolve(session, version, columns, options.workload)
    )
  }
}
