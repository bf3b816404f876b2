package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.catalyst.expressions.{Attribute => CatalystAttribute, Expression, GetStructField, Literal, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}

import io.zcube.sql.errors.ZCubeErrors

/** The WHERE of an OPTIMIZE of a clustered table: a predicate on clustering columns, which takes in
  * the files that may hold matching rows.
  */
object ClusteringPredicate {

  /** Resolved against the table's columns, constants folded, so that statistics can answer it. */
  def resolve(
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      predicates: Seq[Expression],
      text: String): Seq[Expression] = predicates.map { predicate =>
    if (SubqueryExpression.hasSubquery(predicate)) {
      throw DeltaErrors.unsupportSubqueryInPartitionPredicates()
    }
    val table = LocalRelation(toAttributes(snapshot.schema))
    val plan = session.sessionState.executePlan(Filter(predicate, table)).analyzed
    val condition = plan.collectFirst { case Filter(condition, _) => condition }.get
    references(condition).foreach { path =>
      if (!columns.exists(_.logical == path)) {
        throw ZCubeErrors.notAClusteringColumn(text, path.mkString("."), columns.map(_.name))
      }
    }
    condition.transformUp {
      case e if e.foldable && !e.isInstanceOf[Literal] => Literal.create(e.eval(), e.dataType)
    }
  }

  /** The paths of the columns, or of the leaves of nested ones, that a condition looks at. */
  private def references(condition: Expression): Seq[Seq[String]] =
    path(condition).map(Seq(_)).getOrElse(condition.children.flatMap(references))

  private def path(expression: Expression): Option[Seq[String]] = expression match {
    case column: CatalystAttribute => Some(Seq(column.name))
    case field: GetStructField => path(field.child).map(_ :+ field.extractFieldName)
    case _ => None
  }
}
