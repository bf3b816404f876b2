package io.zcube.sql.parser

import org.antlr.v4.runtime.misc.{Interval, ParseCancellationException}
import org.antlr.v4.runtime.{BaseErrorListener, CharStreams, CommonTokenStream, ParserRuleContext, RecognitionException, Recognizer, Token}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.sql.errors.ZCubeErrors

/** A statement that may be ours, read by ZCube's grammar.
  *
  * @param tokens those of comments and space too
  */
final private[parser] class StatementReader private (
    tokens: CommonTokenStream,
    val statement: ZCubeSqlBaseParser.StatementContext) {

  /** What stands from the first to the last, for another parser to read. Comments are blank: parsers
    * differ in where one ends, and what one of them skips the other must not take for a clause.
    */
  def textOf(first: ParserRuleContext, last: ParserRuleContext): String =
    textOf(first.getStart.getTokenIndex, last.getStop.getTokenIndex)

  /** The same of all tokens from the statement's first to the one before `end`. */
  def textBefore(end: Token): String =
    textOf(statement.getStart.getTokenIndex, end.getTokenIndex - 1)

  private def textOf(first: Int, last: Int): String = {
    val text = new StringBuilder
    (first to last).foreach { i =>
      val token = tokens.get(i)
      if (token.getChannel == Token.DEFAULT_CHANNEL) text.append(token.getText)
      else text.append(token.getText.map(c => if (c == '\n' || c == '\r') c else ' '))
    }
    text.toString
  }

  /** The predicate as it stands there, comments and all: whoever reads it reads nothing else. */
  def rawTextOf(first: Token, last: Token): String =
    first.getInputStream.getText(Interval.of(first.getStartIndex, last.getStopIndex))

  /** The text that a literal stands for, or several side by side: what `SELECT` of them gives. */
  def unquote(literal: ZCubeSqlBaseParser.StringContext): String = {
    val sql = rawTextOf(literal.getStart, literal.getStop)
    // Spark's own reading, with all settings that it heeds.
    CatalystSqlParser.parseExpression(sql) match {
      case Literal(text: UTF8String, _) => text.toString
      case _ => throw ZCubeErrors.notAText(sql)
    }
  }
}

private[parser] object StatementReader {

  /** None where the text can't be read; whoever reads it next says what is wrong. */
  def read(sqlText: String): Option[StatementReader] = {
    val lexer = new ZCubeSqlBaseLexer(CharStreams.fromString(sqlText))
    lexer.removeErrorListeners()
    val tokens = new CommonTokenStream(lexer)
    val parser = new ZCubeSqlBaseParser(tokens)
    parser.removeErrorListeners()
    parser.addErrorListener(Cancel)
    try Some(new StatementReader(tokens, parser.statement()))
    catch { case _: ParseCancellationException => None }
  }

  private object Cancel extends BaseErrorListener {
    override def syntaxError(
        recognizer: Recognizer[_, _],
        symbol: Any,
        line: Int,
        column: Int,
        message: String,
        cause: RecognitionException): Unit = throw new ParseCancellationException(message)
  }
}
