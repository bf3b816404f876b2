package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.commands.OptimizeTableCommand

import io.zcube.sql.plans.{ClusteringStatement, DescribeClustering, RecommendClustering}

/** Replaces ZCube's own statements with their commands. It must run before
  * [[ReplaceOptimize]], which would replace the embedded statement with the table, the columns and
  * the predicate.
  */
object ReplaceClusteringStatements extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case ClusteringStatement(request, optimize: OptimizeTableCommand) if optimize.child.resolved =>
      request match {
        case DescribeClustering(where) =>
          DescribeClusteringCommand(
            optimize.child,
            optimize.zOrderBy.map(_.nameParts),
            where.toSeq)
        case RecommendClustering(queries) => RecommendClusteringCommand(optimize.child, queries)
      }
  }
}
