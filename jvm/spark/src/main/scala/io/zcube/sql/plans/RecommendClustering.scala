package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, UnaryNode}

/** A RECOMMEND CLUSTERING statement, until the Delta module replaces it. It is never executed
  * itself.
  *
  * @param queries their text and weights, as the user wrote them
  * @param child   the OPTIMIZE statement that names the same table
  */
case class RecommendClustering(queries: Seq[(String, Double)], child: LogicalPlan)
    extends UnaryNode
    with Command {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): RecommendClustering =
    copy(child = newChild)
}
