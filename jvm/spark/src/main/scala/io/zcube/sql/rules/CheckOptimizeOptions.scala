package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.{ClusteringStatement, OptimizeWithOptions}

/** Rejects clauses that no rule has handled: they must not be ignored. */
object CheckOptimizeOptions extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case optimize: OptimizeWithOptions =>
      throw (if (optimize.dryRun) ZCubeErrors.dryRunNotSupported(None)
             else ZCubeErrors.optionsNotSupported(None))
    case ClusteringStatement(request, optimize) if optimize.resolved =>
      throw ZCubeErrors.statementNotSupported(request.statement)
    case _ =>
  }
}
