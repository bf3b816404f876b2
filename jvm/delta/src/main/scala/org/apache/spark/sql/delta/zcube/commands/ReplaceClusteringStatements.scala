package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.commands.OptimizeTableCommand

import io.zcube.sql.plans.{DescribeClustering, RecommendClustering}

/** Replaces DESCRIBE CLUSTERING and RECOMMEND CLUSTERING with their commands. It must run before
  * [[ReplaceOptimize]], which would replace the embedded statement with the table, the columns and
  * the predicate.
  */
object ReplaceClusteringStatements extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case DescribeClustering(where, statement: OptimizeTableCommand) if statement.child.resolved =>
      DescribeClusteringCommand(
        statement.child,
        statement.zOrderBy.map(_.nameParts),
        where.toSeq)
    case RecommendClustering(queries, statement: OptimizeTableCommand)
        if statement.child.resolved =>
      RecommendClusteringCommand(statement.child, queries)
  }
}
