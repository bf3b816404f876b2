package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan, UnaryNode}

/** A DESCRIBE CLUSTERING statement, until the Delta module replaces it. It is never executed
  * itself.
  *
  * @param where selects files, as the user wrote it
  * @param child the OPTIMIZE statement that names the same table and columns
  */
case class DescribeClustering(where: Option[String], child: LogicalPlan)
    extends UnaryNode
    with Command {

  override def output: Seq[Attribute] = child.output

  override protected def withNewChildInternal(newChild: LogicalPlan): DescribeClustering =
    copy(child = newChild)
}
