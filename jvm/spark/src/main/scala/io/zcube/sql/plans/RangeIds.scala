package io.zcube.sql.plans

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, ExprId, Expression}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}

import io.zcube.sql.expressions.RangePartitionId

/** The child's rows with a range id for each placeholder.
  *
  * It marks the rows that the ranges are computed from. The optimizer doesn't know this node, so it
  * moves no filter and no limit through it, which would change the sample and thus the ids.
  *
  * @param placeholders what to compute
  * @param calls what identifies each placeholder, whatever the optimizer prunes below
  * @param ids the result columns. Not aliases: the analyzer removes those from operators that it
  *   doesn't know.
  */
case class RangeIds(
    placeholders: Seq[RangePartitionId],
    ids: Seq[Attribute],
    calls: Seq[RangeIds.Call],
    child: LogicalPlan)
    extends UnaryNode {

  /** The same without placeholders whose id isn't among these. */
  def only(used: AttributeSet): RangeIds = {
    val left = ids.indices.filter(i => used.contains(ids(i)))
    copy(left.map(placeholders), left.map(ids), left.map(calls))
  }

  override def output: Seq[Attribute] = child.output ++ ids

  override def producedAttributes: AttributeSet = AttributeSet(ids)

  // Calls aren't printed: each is a whole plan.
  override protected def stringArgs: Iterator[Any] = Iterator(placeholders, ids)

  // Names and expression ids must not distinguish equal plans, or a cached query would not be found
  // again. Nor must calls, which follow from the rest.
  override protected def doCanonicalize(): LogicalPlan = {
    val numbered = ids.zipWithIndex.map { case (id, i) =>
      id.withName("none").withExprId(ExprId(i.toLong))
    }
    super.doCanonicalize().asInstanceOf[RangeIds].copy(ids = numbered, calls = Nil)
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): RangeIds =
    copy(child = newChild)
}

object RangeIds {

  /** A placeholder over rows, apart from the names and ids of their columns. In a query, calls that are
    * equal have the same ranges, also if the query makes copies of one, such as of a view. Subqueries in
    * expressions are queries of their own.
    *
    * @param rows the canonical form of the child, before the optimizer left out columns, and with common
    *   tables in the place of their references
    * @param id   in terms of the position of its columns there
    */
  final case class Call(rows: LogicalPlan, id: Expression)

  /** @param rows the child with common tables in the place of their references */
  def apply(
      placeholders: Seq[RangePartitionId],
      ids: Seq[Attribute],
      child: LogicalPlan,
      rows: LogicalPlan): RangeIds = {
    val calls = placeholders.map { id =>
      Call(rows.canonicalized, QueryPlan.normalizeExpressions(id, child.output).canonicalized)
    }
    RangeIds(placeholders, ids, calls, child)
  }
}
