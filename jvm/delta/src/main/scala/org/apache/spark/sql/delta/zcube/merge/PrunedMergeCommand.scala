package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.commands.MergeIntoCommand
import org.apache.spark.sql.delta.commands.merge.MergeIntoMaterializeSource.MergeSource
import org.apache.spark.sql.delta.commands.merge.MergeOutputGeneration
import org.apache.spark.sql.execution.metric.SQLMetric

/** Delta's MERGE, which skips files by the keys of its source too.
  *
  * Delta reads the files that the target's own conditions in ON leave. Here one job over the source's key
  * columns comes before that, and what it finds joins those conditions: it says of the target's rows only
  * what ON says of them, given this source. All else is Delta's.
  *
  * The job runs in Delta's transaction, over the very source that Delta is about to join, anew for each
  * attempt: what Delta materialized, or a scan of Delta tables whose versions the transaction has pinned.
  */
class PrunedMergeCommand(merge: MergeIntoCommand) extends PrunedMergeCommand.Copy(merge) {

  /** Of the attempt that runs. */
  private var added: Seq[Expression] = Nil

  private def withPredicates[T](spark: SparkSession, txn: OptimisticTransaction)(body: => T): T = {
    val session = spark.asInstanceOf[classic.SparkSession]
    val source = new MergeKeys(session, getMergeSource, materializedSourceRDD, merge)
    added = new MergePruning(session, merge, txn).predicates(source)
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
        if (added.isEmpty) {
          super.writeOnlyInserts(spark, deltaTxn, filterMatchedRows, numSourceRowsMetric)
        } else {
          new PrunedMergeCommand.Inserts(
            merge.copy(condition = And(condition, added.reduce(And(_, _)))),
            metrics,
            getMergeSource).write(spark, deltaTxn, numSourceRowsMetric)
        }
      }
    }

  // What follows keeps trees of plans from taking this command for Delta's, or making that of it.

  override def nodeName: String = merge.nodeName

  override def canEqual(other: Any): Boolean = other.isInstanceOf[PrunedMergeCommand]

  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)

  override def hashCode: Int = super.hashCode

  override def makeCopy(newArgs: Array[AnyRef]): LogicalPlan =
    merge.makeCopy(newArgs) match {
      case copied: MergeIntoCommand => new PrunedMergeCommand(copied)
      case other => other
    }
}

object PrunedMergeCommand {

  /** Whether there are keys, and all that can be told before anything runs. With WHEN NOT MATCHED BY SOURCE
    * every row of the target counts.
    */
  def mayHelp(merge: MergeIntoCommand): Boolean =
    merge.notMatchedBySourceClauses.isEmpty && MergePruning.conditionOf(merge).pairs.nonEmpty

  /** Delta's command with the parts of another. */
  abstract class Copy(of: MergeIntoCommand)
      extends MergeIntoCommand(
        of.source,
        of.target,
        of.catalogTable,
        of.targetFileIndex,
        of.condition,
        of.matchedClauses,
        of.notMatchedClauses,
        of.notMatchedBySourceClauses,
        of.migratedSchema,
        of.trackHighWaterMarks,
        of.schemaEvolutionEnabled)

  /** One step of a MERGE that inserts only: the rows that match nothing are written.
    *
    * @param ofWhole the metrics of the MERGE that this is a step of
    * @param source  its source, as it was prepared
    */
  final private class Inserts(
      merge: MergeIntoCommand,
      ofWhole: Map[String, SQLMetric],
      source: MergeSource)
      extends Copy(merge) {

    override lazy val metrics: Map[String, SQLMetric] = ofWhole

    override protected def getMergeSource: MergeSource = source

    def write(spark: SparkSession, txn: OptimisticTransaction, metric: String): Seq[FileAction] =
      writeOnlyInserts(spark, txn, filterMatchedRows = true, metric)
  }
}
