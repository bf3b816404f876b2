package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression, InSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._

/** The columns of a query that have the same values whenever it is read, if its tables are the same.
  *
  * Example: of `SELECT k, CAST(x AS TIMESTAMP) AS ts FROM s` it is `k`, as a text without a date
  * becomes a time of the present day. With `WHERE ts > …` it is none: the rows may be others too.
  *
  * These are the plans that Delta, too, reads twice without keeping a copy
  * (`DeltaSparkPlanUtils.findFirstNonDeterministicNode`).
  */
object RepeatableColumns {

  /** None if even the rows may be others. */
  def of(plan: LogicalPlan): Option[AttributeSet] = plan match {
    case leaf: LeafNode => Some(leaf.outputSet)
    case SubqueryAlias(_, child) => of(child)
    case Project(columns, child) =>
      of(child).map(known => AttributeSet(columns.filter(isSame(_, known)).map(_.toAttribute)))
    case Filter(condition, child) => of(child).filter(isSame(condition, _))
    // Not every plan makes one of two zeros here: the optimizer may leave the DISTINCT out.
    case Distinct(child) => of(child).filter(child.outputSet.subsetOf)
        .map(known => AttributeSet(known.filter(column => MatchCondition.isExact(column.dataType))))
    case union: Union =>
      val known = union.children.map(of)
      Option.when(known.forall(_.isDefined)) {
        val inAll = union.children.zip(known.flatten).map { case (child, same) =>
          child.output.map(same.contains)
        }.transpose.map(_.forall(identity))
        AttributeSet(union.output.zip(inAll).collect { case (column, true) => column })
      }
    case _ => None
  }

  private def isSame(e: Expression, known: AttributeSet): Boolean =
    e.deterministic && e.references.subsetOf(known) && !MatchCondition.mayDiffer(e) && !e.exists {
      // Delta doesn't look at the left side of IN.
      case InSubquery(values, _) if values.exists(_.exists(_.isInstanceOf[SubqueryExpression])) =>
        true
      case subquery: SubqueryExpression =>
        subquery.plan.collectWithSubqueries {
          case node if node.expressions.exists(MatchCondition.mayDiffer) => node
        }.nonEmpty
      case _ => false
    }
}
