package org.apache.spark.sql.zcube

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Plans that no analysis may touch. */
object AnalyzedPlans {

  /** A copy that counts as analyzed. Nodes of the original are part of another query, and don't change. */
  def copyOf(plan: LogicalPlan): LogicalPlan = {
    val copy = plan.clone()
    copy.setAnalyzed()
    copy
  }
}
