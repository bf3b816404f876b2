package io.zcube.sql.parser

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.sql.plans.OptimizeWithOptions

/** Removes OPTIONS and DRY RUN from an OPTIMIZE statement and parses ZCube's own statements; all
  * others are forwarded.
  *
  * The rest of the statement goes to the session's whole chain of parsers and not only to those
  * after this one, so that Delta's parser reads it whichever extension was named first.
  */
final class ZCubeSqlParser(session: SparkSession, delegate: ParserInterface)
    extends DelegatingParser(delegate) {

  override protected def takeOver(
      sqlText: String,
      parseWhole: (ParserInterface, String) => LogicalPlan): Option[LogicalPlan] =
    OptimizeClauses.split(sqlText).map { clauses =>
      OptimizeWithOptions(
        clauses.options,
        parseWhole(session.sessionState.sqlParser, clauses.head),
        clauses.dryRun)
    }.orElse(ClusteringStatementText.of(sqlText).map { text =>
      text.request.where.foreach(PredicateText.check(session.sessionState.sqlParser, _))
      ClusteringStatement(
        text.request,
        parseWhole(session.sessionState.sqlParser, text.optimize))
    })
}
