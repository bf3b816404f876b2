package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{Expression, NamedLambdaVariable, OuterReference, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, RowLevelWrite}
import org.apache.spark.sql.connector.write.RowLevelOperation.Command.MERGE

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.expressions.RangePartitionId
import io.zcube.sql.plans.RangeIds

/** Rejects at analysis each `range_partition_id` whose input can't be sampled, and says why. */
object CheckRangePartitionId extends (LogicalPlan => Unit) {

  // Each step of a DataFrame analyzes a new node above those of the steps before, which were checked
  // then.
  override def apply(plan: LogicalPlan): Unit =
    if (!plan.analyzed) {
      check(plan)
      plan.children.foreach(apply)
    }

  private def check(node: LogicalPlan): Unit = node match {
    case ids: RangeIds =>
      if (ids.child.isStreaming) reject(ids.placeholders.head, "STREAMING")
      if (ids.child.exists(_.expressions.exists(hasOuterReference))) {
        reject(ids.placeholders.head, "CORRELATED")
      }
    case write: RowLevelWrite if write.operation.command != MERGE =>
      rejectIn(write)
      // An UPDATE of whole files reads those that match, and the rest by the negation.
      idsOfSubqueries(write.condition).headOption.foreach(reject(_, "REPEATED"))
    case _ => rejectIn(node)
  }

  private def rejectIn(node: LogicalPlan): Unit =
    node.expressions.flatMap(_.collectFirst { case id: RangePartitionId => id }).foreach { id =>
      reject(id, reason(id, node))
    }

  private def reason(id: RangePartitionId, node: LogicalPlan): String =
    if (id.exists(_.isInstanceOf[AggregateExpression])) "AGGREGATE"
    else if (id.exists(_.isInstanceOf[NamedLambdaVariable])) "LAMBDA"
    else if (hasOuterReference(id)) "CORRELATED"
    else if (!id.left.deterministic) "NONDETERMINISTIC"
    else if (node.isInstanceOf[Join]) "BOTH_SIDES_OF_JOIN"
    else "COMMAND"

  private def idsOfSubqueries(condition: Expression): Seq[RangePartitionId] = condition.collect {
    case subquery: SubqueryExpression => PullOutRangePartitionId.idsIn(subquery.plan)
  }.flatten

  private def hasOuterReference(e: Expression): Boolean = e.exists(_.isInstanceOf[OuterReference])

  private def reject(id: RangePartitionId, reason: String): Nothing =
    throw ZCubeErrors.rangePartitionIdUnsupported(id.sql, reason)
}
