package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, UnaryNode}

/** An OPTIMIZE statement with an OPTIONS or a DRY RUN clause, until the Delta module replaces it.
  *
  * @param child   the statement without those clauses, as Delta parsed it
  * @param options keys as the user wrote them
  * @param dryRun  whether only the plan is requested
  */
case class OptimizeWithOptions(
    options: Seq[(String, String)],
    child: LogicalPlan,
    dryRun: Boolean = false)
    extends UnaryNode
    with Command {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeWithOptions =
    copy(child = newChild)
}
