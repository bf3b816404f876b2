package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.plans.logical.{DeltaMergeInto, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.delta.commands.MergeIntoCommand

import io.zcube.sql.rules.{CheckRangePartitionId, PullOutRangePartitionId}

/** Shows Delta each `range_partition_id` in the source of a MERGE, during resolution.
  *
  * The ids depend on the columns that a plan reads, and Delta reads a source several times, unless
  * something in it looks unrepeatable to Delta: then it makes a copy first. After resolution Delta's
  * MERGE is a leaf, whose source no rule sees until Delta reads it.
  */
object RangeIdsOfSource extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(TreePattern.COMMAND)) {
      case merge: DeltaMergeInto if merge.source.resolved =>
        merge.withNewChildren(Seq(merge.target, PullOutRangePartitionId(merge.source)))
    }

  /** Rejects a call that can't be moved, at analysis and not when Delta reads the source. */
  object Check extends (LogicalPlan => Unit) {
    override def apply(plan: LogicalPlan): Unit = plan.foreach {
      case merge: MergeIntoCommand => CheckRangePartitionId(merge.source)
      case _ =>
    }
  }
}
