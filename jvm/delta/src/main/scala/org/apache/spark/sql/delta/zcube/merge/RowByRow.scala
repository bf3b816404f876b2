package org.apache.spark.sql.delta.zcube.merge

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Generate, LogicalPlan, Project}

/** Operators that look at one row at a time. Over parts of some rows, they make parts of what they make
  * of all.
  *
  * Example: `Project(Filter(rows))` is `Project(Filter(some)) UNION ALL Project(Filter(others))`.
  */
private[merge] object RowByRow {

  /** The rows that such operators get. */
  @tailrec
  def rowsOf(plan: LogicalPlan): LogicalPlan = plan match {
    case Project(_, child) => rowsOf(child)
    case Filter(_, child) => rowsOf(child)
    case generate: Generate => rowsOf(generate.child)
    case rows => rows
  }

  /** The operators over other rows, with the same columns in the same order. What the operators make has
    * ids of its own, so that it can be a part of a union.
    */
  def over(plan: LogicalPlan, others: LogicalPlan): LogicalPlan = plan match {
    case Project(columns, child) =>
      val below = over(child, others)
      val to = renaming(child, below)
      val renamed = columns.map {
        case alias: Alias => to(alias).newInstance()
        case column => to(column)
      }
      Project(renamed, below)
    case Filter(condition, child) =>
      val below = over(child, others)
      Filter(renaming(child, below)(condition), below)
    case generate: Generate =>
      val below = over(generate.child, others)
      generate.copy(
        generator = renaming(generate.child, below)(generate.generator),
        generatorOutput = generate.generatorOutput.map(_.newInstance()),
        child = below)
    case _ => others
  }

  private def renaming(from: LogicalPlan, to: LogicalPlan): Renaming =
    new Renaming(AttributeMap(from.output.zip(to.output)))

  final private class Renaming(ids: AttributeMap[Attribute]) {
    def apply[E <: Expression](e: E): E =
      e.transform { case column: Attribute => ids.getOrElse(column, column) }.asInstanceOf[E]
  }
}
