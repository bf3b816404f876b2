package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, UnaryNode}

/** A statement of ZCube's own, until the Delta module replaces it. It is never executed itself.
  *
  * @param child the OPTIMIZE statement that names the same table and columns
  */
case class ClusteringStatement(request: ClusteringRequest, child: LogicalPlan)
    extends UnaryNode
    with Command {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): ClusteringStatement =
    copy(child = newChild)
}
