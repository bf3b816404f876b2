package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.{DescribeClustering, OptimizeWithOptions, RecommendClustering}

/** Rejects clauses that no rule has handled: they must not be ignored. */
object CheckOptimizeOptions extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case optimize: OptimizeWithOptions =>
      throw (if (optimize.dryRun) ZCubeErrors.dryRunNotSupported()
             else ZCubeErrors.optionsNotSupported())
    case DescribeClustering(_, statement) if statement.resolved =>
      throw ZCubeErrors.describeClusteringNotSupported()
    case RecommendClustering(_, statement) if statement.resolved =>
      throw ZCubeErrors.recommendClusteringNotSupported()
    case _ =>
  }
}
