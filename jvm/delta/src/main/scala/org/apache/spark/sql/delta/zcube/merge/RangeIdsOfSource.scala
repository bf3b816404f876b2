package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.plans.logical.{DeltaMergeInto, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule

import io.zcube.sql.rules.PullOutRangePartitionId

/** Shows Delta each `range_partition_id` in the source of a MERGE, during resolution.
  *
  * The ids depend on the columns that a plan reads, and Delta reads a source several times, unless
  * something in it looks unrepeatable to Delta: then it makes a copy first. After resolution Delta's
  * MERGE is a leaf, whose source no rule sees until Delta reads it.
  */
object RangeIdsOfSource extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case merge: DeltaMergeInto if merge.source.resolved =>
      merge.copy(source = PullOutRangePartitionId(merge.source))
  }
}
