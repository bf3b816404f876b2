package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util._
import org.apache.spark.sql.types.StructType

/** The columns of a query that have the same values whenever it is read, if its tables are the same.
  *
  * Example: of `SELECT k, CAST(x AS TIMESTAMP) AS ts FROM s` it is `k`, as a text without a date
  * becomes a time of the present day. With `WHERE ts > …` it is none: the rows may be others too. Of
  * `SELECT from_json(x, 'id BIGINT, ts TIMESTAMP') AS data FROM s` it is `data.id`.
  *
  * @param whole   columns that are the same with all of their parts
  * @param structs columns made from JSON, of which only some fields are the same
  */
final case class RepeatableColumns(whole: AttributeSet, structs: AttributeSet) {

  def isEmpty: Boolean = whole.isEmpty && structs.isEmpty

  /** Whether an expression that is otherwise deterministic uses nothing else. */
  def suffice(e: Expression): Boolean = e match {
    case column: Attribute => whole.contains(column)
    case field: GetStructField if isField(field) => !ParsedJson.mayDiffer(field.dataType)
    case other => other.children.forall(suffice)
  }

  private def isField(e: Expression): Boolean = ParsedJson.baseOf(e) match {
    case column: Attribute => structs.contains(column)
    case _ => false
  }
}

/** Finds them in the plans that Delta, too, reads twice without keeping a copy
  * (`DeltaSparkPlanUtils.findFirstNonDeterministicNode`).
  */
object RepeatableColumns {

  val none: RepeatableColumns = apply(AttributeSet.empty)

  def apply(whole: AttributeSet): RepeatableColumns = RepeatableColumns(whole, AttributeSet.empty)

  /** None if even the rows may be others. */
  def of(plan: LogicalPlan): Option[RepeatableColumns] = plan match {
    // Of metadata, the block of a file depends on how many cores read it.
    case leaf: LeafNode => Some(apply(AttributeSet(leaf.output.filterNot(_.isMetadataCol))))
    case SubqueryAlias(_, child) => of(child)
    case view: View => of(view.child)
    case Project(columns, child) =>
      of(child).map { known =>
        def made(from: Seq[NamedExpression]) = AttributeSet(from.map(_.toAttribute))
        val (whole, others) = columns.partition(isSame(_, known))
        RepeatableColumns(made(whole), made(others.filter(isStruct(_, known))))
      }
    case Filter(condition, child) => of(child).filter(isSame(condition, _))
    // Not every plan merges 0.0 and -0.0 here: the optimizer may leave the DISTINCT out.
    case Distinct(child) => of(child).map(_.whole).filter(child.outputSet.subsetOf).map { known =>
        apply(AttributeSet(known.filter(column => KeyTypes.isExact(column.dataType))))
      }
    case union: Union =>
      val known = union.children.map(of)
      Option.when(known.forall(_.isDefined)) {
        val inAll = union.children.zip(known.flatten).map { case (child, same) =>
          child.output.map(same.whole.contains)
        }.transpose.map(_.forall(identity))
        apply(AttributeSet(union.output.zip(inAll).collect { case (column, true) => column }))
      }
    case _ => None
  }

  /** Whether it is a struct whose fields are the same, apart from those that differ by their type. */
  private def isStruct(e: Expression, known: RepeatableColumns): Boolean = e match {
    case Alias(child, _) => isStruct(child, known)
    case ParsedJson(json) =>
      e.dataType.isInstanceOf[StructType] && !ParsedJson.areFieldsTied(json) &&
      json.children.forall(isSame(_, known))
    case other => other.dataType.isInstanceOf[StructType] && known.isField(other)
  }

  private def isSame(e: Expression, known: RepeatableColumns): Boolean =
    e.deterministic && known.suffice(e) && !mayDiffer(e) && !e.exists {
      case subquery: SubqueryExpression =>
        subquery.plan.collectWithSubqueries {
          case node if node.expressions.exists(mayDiffer) => node
        }.nonEmpty
      case _ => false
    }

  private def mayDiffer(e: Expression): Boolean = Repeatability.mayDiffer(e) || e.exists {
    // Delta doesn't look at the left side of IN.
    case InSubquery(values, _) => values.exists(SubqueryExpression.hasSubquery)
    case _ => false
  }
}
