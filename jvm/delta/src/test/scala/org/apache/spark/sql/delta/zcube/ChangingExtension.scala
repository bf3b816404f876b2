package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.datasources.LogicalRelation

/** A foreign extension, which changes what is read from each table with columns `id` and `s`. */
final class ChangingExtension extends (SparkSessionExtensions => Unit) {
  import ChangingExtension._

  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPostHocResolutionRule(_ => new Changing("filter", filter))
    extensions.injectPostHocResolutionRule(_ => new Changing("mask", mask))
    extensions.injectPostHocResolutionRule(_ => new Changing("alias", SubqueryAlias("t", _)))
    extensions.injectPostHocResolutionRule(_ => new Changing("swap", swap))
    extensions.injectOptimizerRule(_ => new Changing("late filter", filter))
    extensions.injectOptimizerRule(_ => new Changing("late end", Filter(Literal(false), _)))
  }
}

object ChangingExtension {

  /** The current kind of change. */
  @volatile var mode = ""

  private val Done = TreeNodeTag[Boolean]("changed")

  final private class Changing(when: String, change: LogicalRelation => LogicalPlan)
      extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      if (mode != when) plan
      else plan.transformUpWithNewOutput {
        case r: LogicalRelation
            if Seq("id", "s").forall(n => r.output.exists(_.name == n)) &&
              r.getTagValue(Done).isEmpty =>
          val copy = r.copy()
          copy.setTagValue(Done, true)
          val changed = change(copy)
          (changed, r.output.zip(changed.output))
      }
  }

  private def filter(r: LogicalRelation): LogicalPlan =
    Filter(GreaterThan(r.output.find(_.name == "id").get, Literal(10L)), r)

  /** Another column's values under a column's name. */
  private def swap(r: LogicalRelation): LogicalPlan = Project(
    r.output.map {
      case a if a.name == "s" => Alias(r.output.find(_.name == "masked").get, "s")()
      case a => a
    },
    r)

  private def mask(r: LogicalRelation): LogicalPlan = Project(
    r.output.map {
      case a if a.name == "s" => Alias(Literal("***"), "s")()
      case a => a
    },
    r)
}
