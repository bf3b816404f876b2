package org.apache.spark.sql.delta.zcube.merge

import scala.util.Using

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, Equality, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.delta.commands.merge.DeduplicateCDFDeletes
import org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSource.MergeSource
import org.apache.spark.sql.delta.files.{TahoeFileIndex, TransactionalWrite}
import org.apache.spark.sql.delta.zcube.table.DeltaTableCommand
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Row, SparkSession, classic}

import io.zcube.sql.keys.RepeatableColumns

/** Delta's MERGE, which also skips files by the keys of its source.
  *
  * Delta reads the files that remain after ON's conditions on the target alone. This command first
  * runs a job over the source's key columns and adds the resulting predicates to those conditions:
  * they state only what ON implies about the target's rows, given this source. Everything else is
  * Delta's.
  *
  * The job runs in Delta's transaction, again for each attempt, over exactly the source that Delta
  * is about to join: Delta's materialized copy, or a scan of Delta tables whose versions the
  * transaction has pinned.
  */
class PrunedMergeIntoCommand(
    ofSource: LogicalPlan,
    ofTarget: LogicalPlan,
    ofTable: Option[CatalogTable],
    ofFiles: TahoeFileIndex,
    on: Expression,
    whenMatched: Seq[DeltaMergeIntoMatchedClause],
    whenNotMatched: Seq[DeltaMergeIntoNotMatchedClause],
    whenNotMatchedBySource: Seq[DeltaMergeIntoNotMatchedBySourceClause],
    newSchema: Option[StructType],
    identityColumns: Set[String],
    evolvesSchema: Boolean)
    extends MergeIntoCommand(
      ofSource,
      ofTarget,
      ofTable,
      ofFiles,
      on,
      whenMatched,
      whenNotMatched,
      whenNotMatchedBySource,
      newSchema,
      identityColumns,
      evolvesSchema) {

  def this(merge: MergeIntoCommand) = this(
    merge.source,
    merge.target,
    merge.catalogTable,
    merge.targetFileIndex,
    merge.condition,
    merge.matchedClauses,
    merge.notMatchedClauses,
    merge.notMatchedBySourceClauses,
    merge.migratedSchema,
    merge.trackHighWaterMarks,
    merge.schemaEvolutionEnabled
  )

  import PrunedMergeIntoCommand._

  @transient private lazy val mergeLog =
    new MergeLog(DeltaTableCommand.nameOf(catalogTable, targetFileIndex.path))

  private var findings = Findings.Nothing

  /** The predicates of the selection of files that is running. */
  private var added: Seq[Expression] = Nil

  /** How the write that is running reads files. */
  private var reading: Option[PlanOfFiles] = None

  private def withPredicates[T](spark: SparkSession, txn: OptimisticTransaction)(body: => T): T = {
    val session = spark.asInstanceOf[classic.SparkSession]
    val keys = new MergeKeys(session, super.getMergeSource, materializedSourceRDD, this)
    val pruning = new MergePruning(session, this, txn, keys, mergeLog)
    val predicates = pruning.predicates
    val isTooSmall = pruning.isTooSmall
    forget()
    val matching =
      if (isTooSmall) None
      else MatchingRows.of(session, this, keys, pruning.unchanged, mergeLog)
    // What must be closed is known first, whatever reading the source throws.
    findings = Findings(None, matching, isTooSmall)
    if (predicates.nonEmpty || matching.nonEmpty)
      findings = findings.copy(source = Some(keys.source))
    added = predicates
    try body
    finally added = Nil
  }

  /** Once files or rows are skipped by the source's keys, no plan of the attempt may read rows from a cache:
    * a cache made since then may hold those of another version, whether or not it still exists when
    * the statement ends.
    */
  override protected def getMergeSource: MergeSource =
    findings.source.getOrElse(super.getMergeSource)

  private def forget(): Unit = {
    val before = findings
    findings = Findings.Nothing
    before.close()
  }

  override protected def runMerge(spark: SparkSession): Seq[Row] =
    try super.runMerge(spark)
    finally forget()

  override protected def findTouchedFiles(
      spark: SparkSession,
      deltaTxn: OptimisticTransaction): (Seq[AddFile], DeduplicateCDFDeletes) =
    withPredicates(spark, deltaTxn)(super.findTouchedFiles(spark, deltaTxn))

  /** Delta selects files by the parts of the condition that name only the target. The predicates must
    * not become part of the condition itself: Spark's Parquet reader would get them, and it skips row
    * groups wrongly whose decimals are narrower than the column's (type widening).
    */
  override protected def splitConjunctivePredicates(of: Expression): Seq[Expression] =
    super.splitConjunctivePredicates(of) ++ (if (of eq condition) added else Nil)

  /** Without WHEN MATCHED, this is all that Delta does. */
  override protected def writeOnlyInserts(
      spark: SparkSession,
      deltaTxn: OptimisticTransaction,
      filterMatchedRows: Boolean,
      numSourceRowsMetric: String): Seq[FileAction] = {
    def write() =
      super.writeOnlyInserts(spark, deltaTxn, filterMatchedRows, numSourceRowsMetric)
    if (filterMatchedRows) withPredicates(spark, deltaTxn)(sparingRows(write()))
    else write()
  }

  override protected def writeAllChanges(
      spark: SparkSession,
      deltaTxn: OptimisticTransaction,
      filesToRewrite: Seq[AddFile],
      deduplicateCDFDeletes: DeduplicateCDFDeletes,
      writeUnmodifiedRows: Boolean): Seq[FileAction] = {
    def write() = super.writeAllChanges(
      spark,
      deltaTxn,
      filesToRewrite,
      deduplicateCDFDeletes,
      writeUnmodifiedRows)
    // For duplicates, Delta numbers the target's rows: conditions of ON aren't applied before that.
    if (deduplicateCDFDeletes.enabled) write()
    else if (!writeUnmodifiedRows) sparingRows(write())
    else {
      val copied = new CopiedFiles(
        spark.asInstanceOf[classic.SparkSession],
        deltaTxn.snapshot,
        mergeLog)
      // An optimized write shuffles all rows, so that no file is copied alone.
      lazy val isOptimized = TransactionalWrite
        .shouldOptimizeWrite(deltaTxn.metadata, spark.sessionState.conf)
      def mayStay(file: AddFile) = !isOptimized && copied.mayStay(file)
      // Whether files are copied is known when they are written.
      def inCubes(written: Seq[FileAction], areCopied: Boolean) =
        if (areCopied) copied.inCubes(filesToRewrite, written) else written
      if (shouldOptimizeMatchedOnlyMerge(spark)) {
        if (findings.isTooSmall) write()
        else {
          lazy val stays = staysInPartitions(deltaTxn)
          Using.resource(new FileByFile(spark.asInstanceOf[classic.SparkSession], mergeLog)) {
            byFile =>
              def planOf(files: Seq[AddFile], plan: Seq[AddFile] => LogicalPlan) =
                byFile.planOf(files, file => stays && mayStay(file))(plan(files))
              inCubes(readingFiles(Some(planOf(_, _)))(write()), byFile.isUsed)
          }
        }
      } else {
        inCubes(
          readingFiles(findings.matching.map(rows => rows.apart(_, _, mayStay)))(write()),
          findings.matching.exists(_.copiesFiles))
      }
    }
  }

  /** Whether a task that reads one file writes one: no row, changed or not, goes to another partition. */
  private def staysInPartitions(deltaTxn: OptimisticTransaction): Boolean = {
    val columns = deltaTxn.metadata.partitionColumns
    def isPartition(column: Attribute) = columns.exists(conf.resolver(_, column.name))

    /** The column, and what ON says to be equal to it. */
    def valuesOf(column: Attribute) = column +: splitConjunctivePredicates(condition).collect {
      case Equality(a, b) if a.semanticEquals(column) => b
      case Equality(a, b) if b.semanticEquals(column) => a
    }
    def areKept(actions: Seq[DeltaMergeAction]) = target.output.filter(isPartition).forall {
      column =>
        actions.filter(a => conf.resolver(a.targetColNameParts.head, column.name))
          .forall(action => valuesOf(column).exists(_.semanticEquals(action.expr)))
    }
    columns.isEmpty || !isCdcEnabled(deltaTxn) && matchedClauses.forall {
      case update: DeltaMergeIntoMatchedUpdateClause => areKept(update.resolvedActions)
      case _ => true
    }
  }

  private def sparingRows[T](body: => T): T =
    readingFiles(findings.matching.map(rows => rows.in(_, _)))(body)

  private def readingFiles[T](how: Option[PlanOfFiles])(body: => T): T = {
    reading = how
    try body
    finally reading = None
  }

  override protected def buildTargetPlanWithFiles(
      spark: SparkSession,
      deltaTxn: OptimisticTransaction,
      files: Seq[AddFile],
      columnsToDrop: Seq[String]): LogicalPlan = {
    def planOf(of: Seq[AddFile]) =
      super.buildTargetPlanWithFiles(spark, deltaTxn, of, columnsToDrop)
    reading.fold(planOf(files))(_(files, planOf))
  }

  // Plans show Delta's name, and so do its log lines.
  override def nodeName: String = classOf[MergeIntoCommand].getSimpleName

  override protected def logName: String = classOf[MergeIntoCommand].getName

  /** What EXPLAIN shows. Which files are skipped, and whether the target is large enough, is known only
    * when the statement runs.
    */
  override def argString(maxFields: Int): String = {
    val columns = columnsOf(this).map(MergePruning.nameOf)
    s"${super.argString(maxFields)}, may skip files by the source's keys: ${columns.mkString(", ")}"
  }

  // Otherwise a check for plan changes would consider this command equal to Delta's.

  override def canEqual(other: Any): Boolean = other.isInstanceOf[PrunedMergeIntoCommand]

  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)

  override def hashCode: Int = super.hashCode
}

object PrunedMergeIntoCommand {

  /** How files of the target are read for a join with the source. */
  private type PlanOfFiles = (Seq[AddFile], Seq[AddFile] => LogicalPlan) => LogicalPlan

  /** What an attempt to run the statement found by the source's keys.
    *
    * @param source     the source that was read, if files or rows are skipped by it
    * @param matching   finds the target's rows that may match
    * @param isTooSmall whether the target is too small to look for anything
    */
  final private case class Findings(
      source: Option[MergeSource],
      matching: Option[MatchingRows],
      isTooSmall: Boolean)
      extends AutoCloseable {
    override def close(): Unit = matching.foreach(_.close())
  }

  private object Findings {
    val Nothing: Findings = Findings(None, None, isTooSmall = true)
  }

  /** Whether there are keys, and everything else that is known before anything runs. With WHEN NOT
    * MATCHED BY SOURCE, every row of the target matters.
    */
  def mayHelp(merge: MergeIntoCommand): Boolean =
    merge.notMatchedBySourceClauses.isEmpty && columnsOf(merge).nonEmpty

  /** The columns that ON compares with the source; none if ON can't be analyzed, as when it is too
    * long.
    */
  private def columnsOf(merge: MergeIntoCommand): Seq[Expression] =
    try MergePruning.conditionOf(merge, RepeatableColumns(merge.source.outputSet)).columns
    catch { case MergeFailures.Recoverable(_) => Nil }
}
