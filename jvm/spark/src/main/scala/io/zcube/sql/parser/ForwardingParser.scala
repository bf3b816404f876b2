package io.zcube.sql.parser

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.{FunctionIdentifier, TableIdentifier}
import org.apache.spark.sql.types.{DataType, StructType}

/** Forwards everything except whole statements. Later Spark versions have another entry point for
  * these.
  */
abstract class ForwardingParser(delegate: ParserInterface) extends ParserInterface {

  /** The plan of one of ZCube's statements; `parseWhole` parses the rest of it. */
  protected def takeOver(
      sqlText: String,
      parseWhole: (ParserInterface, String) => LogicalPlan): Option[LogicalPlan]

  override def parsePlan(sqlText: String): LogicalPlan =
    takeOver(sqlText, (parser, text) => parser.parsePlan(text))
      .getOrElse(delegate.parsePlan(sqlText))

  override def parseExpression(sqlText: String): Expression = delegate.parseExpression(sqlText)
  override def parseTableIdentifier(sqlText: String): TableIdentifier =
    delegate.parseTableIdentifier(sqlText)
  override def parseFunctionIdentifier(sqlText: String): FunctionIdentifier =
    delegate.parseFunctionIdentifier(sqlText)
  override def parseMultipartIdentifier(sqlText: String): Seq[String] =
    delegate.parseMultipartIdentifier(sqlText)
  override def parseQuery(sqlText: String): LogicalPlan = delegate.parseQuery(sqlText)
  override def parseTableSchema(sqlText: String): StructType = delegate.parseTableSchema(sqlText)
  override def parseDataType(sqlText: String): DataType = delegate.parseDataType(sqlText)
  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
