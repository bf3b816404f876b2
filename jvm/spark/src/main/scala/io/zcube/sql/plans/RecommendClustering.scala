package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, UnaryNode}

/** A RECOMMEND CLUSTERING statement, until the Delta side takes it over. It never is run as it stands.
  *
  * @param queries texts and weights, as the user wrote them
  * @param child   the OPTIMIZE statement that names the same table
  */
case class RecommendClustering(queries: Seq[(String, Double)], child: LogicalPlan)
    extends UnaryNode
    with Command {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): RecommendClustering =
    copy(child = newChild)
}
