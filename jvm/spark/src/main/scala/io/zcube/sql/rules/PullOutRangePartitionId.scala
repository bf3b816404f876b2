package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, Expression, NamedExpression, NamedLambdaVariable, OuterReference}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import io.zcube.sql.expressions.RangePartitionId
import io.zcube.sql.plans.RangeIds

/** Moves each `range_partition_id` out of its operator, into a [[RangeIds]] directly below it.
  * Calls that can't be moved stay, and [[CheckRangePartitionId]] rejects them.
  *
  * {{{
  *   Filter (range_partition_id(x, 10) = 3)        Project [x, y]
  *   +- t [x, y]                             →     +- Filter (id = 3)
  *                                                    +- RangeIds [range_partition_id(x, 10) AS id]
  *                                                       +- t [x, y]
  * }}}
  */
object PullOutRangePartitionId extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val tables = new InlinedCtes(plan)
    plan.resolveOperatorsUp(DropCopyOfSource.of.orElse {
      case ids: RangeIds => ids
      case join: Join if hasMovable(join) => pullFrom(join, tables)
      case node: UnaryNode if isQuery(node) && hasMovable(node) => pullFrom(node, tables)
    })
  }

  /** The calls of a plan, moved or not. A command has no references to common tables. */
  private[rules] def idsIn(plan: LogicalPlan): Seq[RangePartitionId] =
    plan.collectWithSubqueries { case node =>
      node.expressions.flatMap(_.collect { case id: RangePartitionId => id })
    }.flatten

  /** Operators of queries. A command's condition refers to its target, which must not change. */
  private def isQuery(node: UnaryNode): Boolean = node match {
    case _: Project | _: Filter | _: Sort | _: Aggregate | _: Window | _: Generate | _: Expand |
        _: RepartitionByExpression | _: RebalancePartitions | _: CollectMetrics =>
      true
    case _ => false
  }

  private def hasMovable(node: LogicalPlan): Boolean =
    node.resolved && node.children.exists(child => movable(node, child).nonEmpty)

  /** Innermost placeholders of the node whose input comes only from that child. */
  private def movable(node: LogicalPlan, child: LogicalPlan): Seq[RangePartitionId] =
    node.expressions
      .flatMap(_.collect { case id: RangePartitionId if isMovable(id, child.outputSet) => id })
      .foldLeft(Seq.empty[RangePartitionId]) { (distinct, id) =>
        if (distinct.exists(_.semanticEquals(id))) distinct else distinct :+ id
      }

  private def isMovable(id: RangePartitionId, input: AttributeSet): Boolean =
    id.resolved && id.left.deterministic && id.references.subsetOf(input) && !id.left.exists {
      case _: RangePartitionId | _: AggregateExpression | _: NamedLambdaVariable |
          _: OuterReference =>
        true
      case _ => false
    }

  /** Its name is unlike any other: some of Spark's rules look columns up by their names, such as
    * `ReplaceExceptWithFilter`.
    */
  private def idOf(id: RangePartitionId): Attribute = {
    val exprId = NamedExpression.newExprId
    AttributeReference(s"${id.sql} #${exprId.id}", id.dataType, id.nullable)(exprId)
  }

  private def pullFrom(node: LogicalPlan, tables: InlinedCtes): LogicalPlan = {
    val before = node.output
    var current = node
    // Once for each level of nesting, the innermost first.
    while (hasMovable(current)) {
      // An id without a column needs no particular child: the first computes it.
      var taken = Seq.empty[(RangePartitionId, Attribute)]
      val children = current.children.map { child =>
        val ids = movable(current, child)
          .filterNot(id => taken.exists(_._1.semanticEquals(id)))
          .map(id => id -> idOf(id))
        taken ++= ids
        if (ids.isEmpty) child
        else RangeIds(ids.map(_._1), ids.map(_._2), child, tables.in(child))
      }
      val replace: PartialFunction[Expression, Expression] = {
        case id: RangePartitionId if taken.exists(_._1.semanticEquals(id)) =>
          taken.find(_._1.semanticEquals(id)).get._2
      }
      current = current.withNewChildren(children).transformExpressionsUp(replace)
    }
    if (current.output.map(_.exprId) == before.map(_.exprId)) current else Project(before, current)
  }
}
