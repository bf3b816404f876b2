package io.zcube.sql.parser

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable
import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.{ClusteringStatement, OptimizeWithOptions}

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
      parseWhole(session.sessionState.sqlParser, clauses.head) match {
        // A clause comes twice, or OPTIONS after DRY RUN.
        case _: OptimizeWithOptions => throw ZCubeErrors.notOfTheForm(StatementForm.Optimize, None)
        case optimize => OptimizeWithOptions(clauses.options, optimize, clauses.dryRun)
      }
    }.orElse(ClusteringStatementText.of(sqlText).map { text =>
      text.request.where.foreach(PredicateText.check(session.sessionState.sqlParser, _))
      ClusteringStatement(
        text.request,
        named(
          text.request.statement,
          parseWhole(session.sessionState.sqlParser, text.optimize)))
    }).orElse(StatementForm.of(sqlText).map { form =>
      try parseWhole(delegate, sqlText)
      catch { case e: ParseException => throw ZCubeErrors.notOfTheForm(form, Some(e)) }
    })

  /** Spark's error for a view has the name of the statement. */
  private def named(statement: String, optimize: LogicalPlan): LogicalPlan = optimize.transform {
    case table: UnresolvedTable => table.copy(commandName = statement)
  }
}
