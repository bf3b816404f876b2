package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.commands.OptimizeTableCommand

import io.zcube.sql.plans.RecommendClustering

/** Puts the command in the place of RECOMMEND CLUSTERING. It must run before [[ReplaceOptimize]], which
  * would take over the statement that carries the table.
  */
object ReplaceRecommendClustering extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case RecommendClustering(queries, statement: OptimizeTableCommand)
        if statement.child.resolved =>
      RecommendClusteringCommand(statement.child, queries)
  }
}
