package io.zcube.sql.parser

import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A parser that takes over some statements. Spark 4.0 has one entry point for statements. */
abstract class DelegatingParser(delegate: ParserInterface) extends ForwardingParser(delegate) {

  override def parsePlan(sqlText: String): LogicalPlan =
    takeOver(sqlText, (parser, text) => parser.parsePlan(text))
      .getOrElse(delegate.parsePlan(sqlText))
}
