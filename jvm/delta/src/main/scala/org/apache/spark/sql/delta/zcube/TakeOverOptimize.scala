package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.commands.OptimizeTableCommand

import io.zcube.sql.ZCubeConf
import io.zcube.sql.plans.OptimizeWithOptions

/** Puts ZCube's command in the place of Delta's OPTIMIZE … ZORDER BY. Compaction, REORG, and OPTIMIZE
  * of clustered tables stay Delta's.
  */
case class TakeOverOptimize(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!session.sessionState.conf.getConf(ZCubeConf.Enabled)) plan
    else {
      plan.resolveOperatorsUp {
        case command: OptimizeTableCommand if isZOrder(command) =>
          OptimizeZOrderCommand(
            command.child,
            command.userPartitionPredicates,
            command.optimizeContext,
            Nil)(command.zOrderBy)
        case OptimizeWithOptions(options, command: OptimizeZOrderCommand) =>
          OptimizeOptions.check(options)
          command.copy(options = options)(command.zOrderBy)
      }
    }

  private def isZOrder(command: OptimizeTableCommand): Boolean =
    command.zOrderBy.nonEmpty && command.child.resolved && command.optimizeContext.reorg.isEmpty
}
