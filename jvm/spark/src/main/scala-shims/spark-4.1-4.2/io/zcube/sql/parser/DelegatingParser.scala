package io.zcube.sql.parser

import org.apache.spark.sql.catalyst.parser.{ParameterContext, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A parser that takes over some statements. From Spark 4.1 on, `spark.sql(text, args = …)` has a
  * separate entry point; a parser without it would lose the parameters.
  */
abstract class DelegatingParser(delegate: ParserInterface) extends ForwardingParser(delegate) {

  override def parsePlanWithParameters(
      sqlText: String,
      parameterContext: ParameterContext): LogicalPlan =
    takeOver(sqlText, (parser, text) => parser.parsePlanWithParameters(text, parameterContext))
      .getOrElse(delegate.parsePlanWithParameters(sqlText, parameterContext))
}
