package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, UnaryNode}

/** An OPTIMIZE statement with an OPTIONS clause, until the Delta side takes the options over.
  *
  * @param child   the statement without its options, as Delta parsed it
  * @param options keys as the user wrote them
  */
case class OptimizeWithOptions(options: Seq[(String, String)], child: LogicalPlan)
    extends UnaryNode
    with Command {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeWithOptions =
    copy(child = newChild)
}
