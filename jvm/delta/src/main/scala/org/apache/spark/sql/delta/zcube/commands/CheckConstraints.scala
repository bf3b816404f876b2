package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.plans.logical.{AlterTableAddConstraint, LogicalPlan}

import io.zcube.sql.errors.ZCubeErrors

/** Rejects `range_partition_id` in a CHECK constraint. Delta tests a new constraint in queries, where
  * the function works, but then in each write, where it can't.
  */
case class CheckConstraints(session: SparkSession) extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case AlterTableAddConstraint(_, _, condition) =>
      session.sessionState.sqlParser.parseExpression(condition).foreach {
        case call: UnresolvedFunction if isRangePartitionId(call.nameParts) =>
          throw ZCubeErrors.rangePartitionIdUnsupported(call.sql, "COMMAND")
        case _ =>
      }
    case _ =>
  }

  private def isRangePartitionId(name: Seq[String]): Boolean =
    name.last.equalsIgnoreCase("range_partition_id") &&
      (name.length == 1 || name.head.equalsIgnoreCase("system"))
}
