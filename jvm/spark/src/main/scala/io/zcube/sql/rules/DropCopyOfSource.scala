package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.Exists
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RowLevelWrite}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.RowLevelOperation.Command.MERGE

/** Drops the second copy of a MERGE's source if it has range ids.
  *
  * Spark's own MERGE, such as into a table of Iceberg, has it in a subquery that finds the files to read
  * (`RowLevelOperationRuntimeGroupFiltering`). It has fewer columns than the source, so its sample and
  * its ids could differ, and a file with a match could be left out. With TRUE in its place Spark reads
  * all files that the condition's own filters leave.
  *
  * Spark 4.0 makes the copy after all rules of extensions at analysis, so this is a rule of the plan's
  * normalization; later ones make the copy before [[PullOutRangePartitionId]], which calls it too.
  */
object DropCopyOfSource extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform(of)

  /** Conditions of a MERGE have no other subqueries: Spark rejects them. */
  private[rules] val of: PartialFunction[LogicalPlan, LogicalPlan] = {
    case merge: RowLevelWrite if merge.operation.command == MERGE =>
      merge.transformExpressions {
        case copy: Exists if PullOutRangePartitionId.idsIn(copy.plan).nonEmpty => TrueLiteral
      }
  }
}
