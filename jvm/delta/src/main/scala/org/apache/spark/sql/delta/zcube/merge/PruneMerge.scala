package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.delta.commands.MergeIntoCommand

import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.rules.SwitchableRule

/** Lets MERGE skip files by the keys of its source, where that may help. It runs as late as
  * possible, so that engines that check commands by class see Delta's class.
  */
case class PruneMerge(session: SparkSession) extends SwitchableRule {

  override protected def rewrite(plan: LogicalPlan): LogicalPlan =
    if (!sessionConf.getConf(ZCubeConf.MergeIntoPruning)) plan
    else {
      plan.transformWithPruning(_.containsPattern(TreePattern.COMMAND)) {
        case merge: MergeIntoCommand
            if merge.getClass == classOf[MergeIntoCommand] && PrunedMergeIntoCommand.mayHelp(
              merge) =>
          new PrunedMergeIntoCommand(merge)
      }
    }
}
