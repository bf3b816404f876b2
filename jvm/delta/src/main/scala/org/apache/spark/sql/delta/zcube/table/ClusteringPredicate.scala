package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.{ColumnPath, WhereClause}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.predicates.PredicateReader

/** The WHERE of an OPTIMIZE on a clustered table: predicates on clustering columns, which select
  * the files that a query with that WHERE would read.
  *
  * Spark's optimizer and Delta decide that together: casts move to the constants, IN and BETWEEN
  * become comparisons, `current_date()` becomes a constant, and so on. So this runs the query
  * through the session's optimizer, where Delta prepares the scan, and takes the filters of the
  * prepared scan.
  */
object ClusteringPredicate {

  /** The predicates must all hold.
    *
    * @param texts each parsed predicate, and its text
    */
  def resolve(
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[ColumnPath],
      texts: Seq[(Expression, String)]): WhereClause = Sessions.within(session) {
    // Pinned to this snapshot: a scan of the table by name would use a newer one.
    val relation = snapshot.deltaLog
      .createRelation(snapshotToUseOpt = Some(snapshot), isTimeTravelQuery = true)
    val table = LogicalRelation(relation, isStreaming = false)
    texts.foreach { case (predicate, text) =>
      if (SubqueryExpression.hasSubquery(predicate)) {
        throw DeltaErrors.unsupportSubqueryInPartitionPredicates()
      }
      check(session, analyzed(session, predicate, table), columns, text)
    }
    val written = texts.map(_._1)
    WhereClause(
      written,
      written.reduceOption(And(_, _)).fold(Seq.empty[Expression]) { all =>
        filtersOf(session, analyzed(session, all, table)).getOrElse(
          throw ZCubeErrors.whereNeedsSkipping(texts.map(_._2).mkString(" AND ")))
      }
    )
  }

  private def analyzed(
      session: SparkSession,
      predicate: Expression,
      table: LogicalPlan): LogicalPlan =
    Sessions.analyzed(session, Filter(predicate, table))

  /** Checked before anything is optimized: `s = 1 OR true` still names `s`. */
  private def check(
      session: SparkSession,
      query: LogicalPlan,
      columns: Seq[ColumnPath],
      text: String): Unit = {
    val resolver = session.sessionState.conf.resolver
    query.collect { case Filter(condition, _) => condition }.foreach { condition =>
      PredicateReader.paths(condition).foreach { path =>
        if (!columns.exists(_.logical.corresponds(path)(resolver))) {
          throw ZCubeErrors.notAClusteringColumn(text, ColumnPath.quoted(path), columns.map(_.name))
        }
      }
      if (!condition.deterministic) throw ZCubeErrors.nondeterministicPredicate(text)
    }
  }

  /** The filters of the only scan in the optimized query. None if Delta prepares no scan, because its
    * data skipping is off or an extension changed the plan: a query would then read every file, and an
    * OPTIMIZE would rewrite what its user didn't ask for.
    */
  private def filtersOf(session: SparkSession, query: LogicalPlan): Option[Seq[Expression]] = {
    val optimized = Sessions.optimizedUncached(session, query)
    val read = optimized.collect { case relation: LogicalRelation => relation.relation }
    read.collect { case files: HadoopFsRelation => files.location } match {
      case Seq(prepared: PreparedDeltaFileIndex) => Some(prepared.preparedScan.allFilters.toSeq)
      // The predicate is never true, so there is nothing to read.
      case Seq() if optimized.collectLeaves().forall(_.maxRows.contains(0L)) =>
        Some(Seq(Literal.FalseLiteral))
      // It is always true.
      case Seq(_) if !optimized.exists(_.isInstanceOf[Filter]) => Some(Nil)
      case _ => None
    }
  }
}
