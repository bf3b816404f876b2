package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, CTERelationRef, LogicalPlan, Project, WithCTE}

/** Puts common tables into the place of their references, so that plans compare by what they read: each
  * analysis, such as that of a view's text, gives its common tables new ids.
  *
  * Common tables that aren't in the plan stay references, and recursive ones keep their ids.
  */
final private[rules] class InlinedCtes(plan: LogicalPlan) {

  private lazy val tables: Map[Long, LogicalPlan] =
    plan.collectWithSubqueries { case table: CTERelationDef => table.id -> table.child }.toMap

  /** With the same output as `rows`. */
  def in(rows: LogicalPlan): LogicalPlan =
    if (tables.isEmpty) rows else inlined(rows, Set.empty)

  private def inlined(rows: LogicalPlan, within: Set[Long]): LogicalPlan =
    rows.transformUpWithSubqueries {
      case ref: CTERelationRef if tables.contains(ref.cteId) && !within(ref.cteId) =>
        val table = inlined(tables(ref.cteId), within + ref.cteId)
        val columns = table.output.zip(ref.output).map { case (from, to) =>
          Alias(from, to.name)(to.exprId)
        }
        Project(columns, table)
      // Its tables are in their places now, and their ids are new in each analysis, too.
      case WithCTE(query, definitions) if definitions.forall(table => tables.contains(table.id)) =>
        query
    }
}
