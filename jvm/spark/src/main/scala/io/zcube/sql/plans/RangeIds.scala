package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import io.zcube.sql.expressions.RangePartitionId

/** The child's rows with a range id for each placeholder.
  *
  * It marks the rows that the ranges are computed from. The optimizer doesn't know this node, so it
  * moves no filter and no limit through it, which would change the sample and thus the ids.
  *
  * @param placeholders what to compute
  * @param ids the result columns. Not aliases: the analyzer removes those from operators that it
  *   doesn't know.
  */
case class RangeIds(placeholders: Seq[RangePartitionId], ids: Seq[Attribute], child: LogicalPlan)
    extends UnaryNode {

  override def output: Seq[Attribute] = child.output ++ ids

  override def producedAttributes: AttributeSet = AttributeSet(ids)

  // Expression ids must not distinguish equal plans, or a cached query would not be found again.
  override protected def doCanonicalize(): LogicalPlan = {
    val numbered = ids.zipWithIndex.map { case (id, i) => id.withExprId(ExprId(i.toLong)) }
    super.doCanonicalize().asInstanceOf[RangeIds].copy(ids = numbered)
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): RangeIds =
    copy(child = newChild)
}
