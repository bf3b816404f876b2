package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.delta.commands.merge.DeduplicateCDFDeletes
import org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSource.MergeSource
import org.apache.spark.sql.delta.files.TahoeFileIndex
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{SparkSession, classic}

/** Delta's MERGE, which skips files by the keys of its source too.
  *
  * Delta reads the files that the target's own conditions in ON leave. Here one job over the source's key
  * columns comes before that, and what it finds joins those conditions: it says of the target's rows only
  * what ON says of them, given this source. All else is Delta's.
  *
  * The job runs in Delta's transaction, over the very source that Delta is about to join, anew for each
  * attempt: what Delta materialized, or a scan of Delta tables whose versions the transaction has pinned.
  */
class PrunedMergeCommand(
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

  /** Of the attempt that runs. */
  private var added: Seq[Expression] = Nil

  private def withPredicates[T](spark: SparkSession, txn: OptimisticTransaction)(body: => T): T = {
    val session = spark.asInstanceOf[classic.SparkSession]
    val source = new MergeKeys(session, getMergeSource, materializedSourceRDD, this)
    added = new MergePruning(session, this, txn).predicates(source)
    try body
    finally added = Nil
  }

  override protected def findTouchedFiles(
      spark: SparkSession,
      deltaTxn: OptimisticTransaction): (Seq[AddFile], DeduplicateCDFDeletes) =
    withPredicates(spark, deltaTxn)(super.findTouchedFiles(spark, deltaTxn))

  override protected def getTargetOnlyPredicates(spark: SparkSession): Seq[Expression] =
    super.getTargetOnlyPredicates(spark) ++ added

  /** Without WHEN MATCHED, Delta takes the predicates from the condition itself. So a MERGE with a longer
    * condition does this step, which is all that it does; the history tells of this one's.
    */
  override protected def writeOnlyInserts(
      spark: SparkSession,
      deltaTxn: OptimisticTransaction,
      filterMatchedRows: Boolean,
      numSourceRowsMetric: String): Seq[FileAction] =
    if (!filterMatchedRows) {
      super.writeOnlyInserts(spark, deltaTxn, filterMatchedRows, numSourceRowsMetric)
    } else {
      withPredicates(spark, deltaTxn) {
        if (added.isEmpty) super.writeOnlyInserts(spark, deltaTxn, true, numSourceRowsMetric)
        else {
          new PrunedMergeCommand.Inserts(
            copy(condition = And(condition, added.reduce(And(_, _)))),
            metrics,
            getMergeSource).write(spark, deltaTxn, numSourceRowsMetric)
        }
      }
    }

  // Plans show Delta's name, and its log lines keep theirs.
  override def nodeName: String = classOf[MergeIntoCommand].getSimpleName

  override protected def logName: String = classOf[MergeIntoCommand].getName

  // Otherwise rules that look whether a plan has changed would take this command for Delta's.

  override def canEqual(other: Any): Boolean = other.isInstanceOf[PrunedMergeCommand]

  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)

  override def hashCode: Int = super.hashCode
}

object PrunedMergeCommand {

  /** Whether there are keys, and all that can be told before anything runs. With WHEN NOT MATCHED BY SOURCE
    * every row of the target counts.
    */
  def mayHelp(merge: MergeIntoCommand): Boolean =
    merge.notMatchedBySourceClauses.isEmpty && MergePruning.conditionOf(merge).pairs.nonEmpty

  /** One step of a MERGE that inserts only: the rows that match nothing are written.
    *
    * @param ofWhole the metrics of the MERGE that this is a step of
    * @param source  its source, as it was prepared
    */
  final private class Inserts(
      merge: MergeIntoCommand,
      ofWhole: Map[String, SQLMetric],
      source: MergeSource)
      extends MergeIntoCommand(
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
      ) {

    override lazy val metrics: Map[String, SQLMetric] = ofWhole

    override protected def getMergeSource: MergeSource = source

    def write(spark: SparkSession, txn: OptimisticTransaction, metric: String): Seq[FileAction] =
      writeOnlyInserts(spark, txn, filterMatchedRows = true, metric)
  }
}
