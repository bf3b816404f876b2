package io.zcube.sql.rules

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.plans.logical.{CTERelationDef, CTERelationRef, CollectMetrics, LogicalPlan, WithCTE}
import org.apache.spark.sql.zcube.AnalyzedPlans

import io.zcube.sql.errors.ZCubeErrors

/** Makes queries of parts of a query that is being optimized, so that they can be sampled.
  *
  * @param query the whole; of a subquery, the optimizer shows only the subquery itself
  */
final private[rules] class PartsOfQuery(query: LogicalPlan) {

  private lazy val tables: Seq[CTERelationDef] =
    query.collectWithSubqueries { case table: CTERelationDef => table }.distinctBy(_.id)

  /** The part as a query of its own.
    *
    * It counts as analyzed: a second analysis would apply other extensions' rules again, and Spark
    * 4.0 would take a constant to group by for a position. Nothing is observed, because observations
    * are the whole query's.
    */
  def alone(part: LogicalPlan): LogicalPlan =
    AnalyzedPlans.copyOf(withTables(part).transformUpWithSubqueries {
      case observed: CollectMetrics => observed.child
    })

  /** The part with the common tables that it refers to.
    *
    * @throws org.apache.spark.sql.AnalysisException if one is defined outside the query
    */
  def withTables(part: LogicalPlan): LogicalPlan = {
    val needed = neededBy(Seq(part), Set.empty)
    if (needed.isEmpty) part
    else {
      val defined = tables.filter(table => needed(table.id))
      if (defined.size < needed.size) throw ZCubeErrors.commonTableOutside()
      WithCTE(part, defined)
    }
  }

  @tailrec
  private def neededBy(plans: Seq[LogicalPlan], found: Set[Long]): Set[Long] = {
    val missing = plans.flatMap(undefinedIn).toSet -- found
    if (missing.isEmpty) found
    else neededBy(tables.filter(table => missing(table.id)).map(_.child), found ++ missing)
  }

  private def undefinedIn(plan: LogicalPlan): Set[Long] =
    plan.collectWithSubqueries { case table: CTERelationRef => table.cteId }.toSet --
      plan.collectWithSubqueries { case table: CTERelationDef => table.id }
}
