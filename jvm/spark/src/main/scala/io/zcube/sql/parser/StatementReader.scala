package io.zcube.sql.parser

import org.antlr.v4.runtime.misc.{Interval, ParseCancellationException}
import org.antlr.v4.runtime.{BaseErrorListener, CharStreams, CommonTokenStream, ParserRuleContext, RecognitionException, Recognizer, Token}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.internal.VariableSubstitution
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.sql.errors.ZCubeErrors

/** A statement that may be ZCube's, parsed with its grammar.
  *
  * @param tokens including comments and whitespace
  */
final private[parser] class StatementReader private (
    tokens: CommonTokenStream,
    val statement: ZCubeSqlBaseParser.StatementContext) {

  /** The text from the first to the last token, for another parser. Comments are blanked: parsers
    * differ in where a comment ends, and text that one parser skips must not be read as a clause by
    * the other.
    */
  def textOf(first: ParserRuleContext, last: ParserRuleContext): String =
    textOf(first.getStart.getTokenIndex, last.getStop.getTokenIndex)

  /** The same for all tokens from the statement's first to the one before `end`. */
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

  /** The predicate as written, including comments, because it is parsed on its own. */
  def rawTextOf(first: Token, last: Token): String =
    first.getInputStream.getText(Interval.of(first.getStartIndex, last.getStopIndex))

  /** The value of a literal, or of several adjacent ones: what `SELECT` returns for them. */
  def unquote(literal: ZCubeSqlBaseParser.StringContext): String = {
    val sql = rawTextOf(literal.getStart, literal.getStop)
    // Spark's parser reads it, so all its settings apply.
    CatalystSqlParser.parseExpression(sql) match {
      case Literal(text: UTF8String, _) => text.toString
      case _ => throw ZCubeErrors.notAText(sql)
    }
  }
}

private[parser] object StatementReader {

  /** The text with the values of its variables (`spark.sql.variable.substitute`), as Spark's and Delta's
    * parsers see it.
    */
  def substituted(sqlText: String): String = new VariableSubstitution().substitute(sqlText)

  /** None if the text can't be parsed; the next parser reports the error. */
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
