package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.zcube.table.WhereOption

import io.zcube.clustering.plan.OptimizeOptions
import io.zcube.sql.plans.OptimizeWithOptions
import io.zcube.sql.rules.SwitchableRule

/** Replaces an OPTIMIZE with ZCube's clauses, which change its output columns, with ZCube's
  * command.
  */
case class ReplaceOptimize(session: SparkSession) extends SwitchableRule {

  override protected def rewrite(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case OptimizeWithOptions(options, command: OptimizeTableCommand, dryRun)
        if command.child.resolved =>
      // Unknown and malformed options are rejected before anything runs.
      OptimizeOptions.check(options)
      OptimizeCommand(
        command.child,
        WhereOption.place(session, options, command),
        options.filterNot { case (key, _) => WhereOption.isKey(key) },
        dryRun)
  }

  override protected def whileOff(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    // Python always requests details; Delta can't provide them, but does the rest.
    case OptimizeWithOptions(options, command: OptimizeTableCommand, false)
        if options.forall { case (key, _) =>
          key.equalsIgnoreCase("details") || WhereOption.isKey(key)
        } =>
      WhereOption.place(session, options, command)
  }
}

object ReplaceOptimize {

  /** Replaces Delta's OPTIMIZE with ZCube's command. REORG and auto compaction stay Delta's, and
    * ZCube's command delegates plain compaction to Delta: only when the command runs is it known
    * whether a table is clustered. This rule runs last, so that engines that check commands by
    * class, in an analyzer or optimizer rule, see the class they know.
    */
  case class Unadorned(session: SparkSession) extends SwitchableRule {
    override protected def rewrite(plan: LogicalPlan): LogicalPlan =
      plan.transformWithPruning(_.containsPattern(TreePattern.COMMAND)) {
        case command: OptimizeTableCommand if command.optimizeContext.reorg.isEmpty =>
          OptimizeCommand(command.child, command, Nil)
      }
  }
}
