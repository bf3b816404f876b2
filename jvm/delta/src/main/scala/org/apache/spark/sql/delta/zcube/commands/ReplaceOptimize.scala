package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.delta.commands.OptimizeTableCommand
import org.apache.spark.sql.delta.zcube.table.WhereOption

import io.zcube.clustering.plan.OptimizeOptions
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.plans.OptimizeWithOptions

/** Puts ZCube's command in the place of an OPTIMIZE with ZCube's clauses, which give it other columns.
  */
case class ReplaceOptimize(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!session.sessionState.conf.getConf(ZCubeConf.Enabled)) {
      plan.resolveOperatorsUp {
        // Python asks for details always; Delta has none to give, and does all else that is asked.
        case OptimizeWithOptions(options, command: OptimizeTableCommand, false)
            if options.forall { case (key, _) =>
              key.equalsIgnoreCase("details") || WhereOption.isKey(key)
            } =>
          WhereOption.place(session, options, command)
      }
    } else {
      plan.resolveOperatorsUp {
        case OptimizeWithOptions(options, command: OptimizeTableCommand, dryRun)
            if command.child.resolved =>
          // Unknown and malformed ones are refused before anything runs.
          OptimizeOptions.check(options)
          OptimizeCommand(
            command.child,
            WhereOption.place(session, options, command),
            options.filterNot { case (key, _) => WhereOption.isKey(key) },
            dryRun)
      }
    }
}

object ReplaceOptimize {

  /** Puts ZCube's command in the place of Delta's OPTIMIZE. REORG and auto compaction stay Delta's, and
    * ZCube's command hands plain compaction back: whether a table is clustered is known only once the
    * command runs. Comes last of all, so that engines that guard commands by their classes, by a rule
    * of the analyzer or the optimizer, see the one they know.
    */
  case class Unadorned(session: SparkSession) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      if (!session.sessionState.conf.getConf(ZCubeConf.Enabled)) plan
      else {
        plan.transformWithPruning(_.containsPattern(TreePattern.COMMAND)) {
          case command: OptimizeTableCommand if command.optimizeContext.reorg.isEmpty =>
            OptimizeCommand(command.child, command, Nil)
        }
      }
  }
}
