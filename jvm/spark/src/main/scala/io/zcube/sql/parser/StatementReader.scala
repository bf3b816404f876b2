package io.zcube.sql.parser

import org.antlr.v4.runtime.misc.{Interval, ParseCancellationException}
import org.antlr.v4.runtime.{BaseErrorListener, CharStreams, CommonTokenStream, ParserRuleContext, RecognitionException, Recognizer}

/** Runs ZCube's grammar over a statement that may be ours. */
private[parser] object StatementReader {

  private val Comments = raw"(?s)(\s|--[^\n]*\n|/\*.*?\*/)*"

  /** A cheap look first: a grammar must not be run over every statement of the session. */
  final class Shape(words: String) {
    private val pattern = (Comments + words).r
    def fits(sqlText: String): Boolean =
      pattern.matches(sqlText.toLowerCase(java.util.Locale.ROOT))
  }

  /** None where the text can't be read; whoever reads it next says what is wrong. */
  def read(sqlText: String): Option[ZCubeSqlBaseParser.StatementContext] = {
    val lexer = new ZCubeSqlBaseLexer(CharStreams.fromString(sqlText))
    lexer.removeErrorListeners()
    val parser = new ZCubeSqlBaseParser(new CommonTokenStream(lexer))
    parser.removeErrorListeners()
    parser.addErrorListener(Cancel)
    try Some(parser.statement())
    catch { case _: ParseCancellationException => None }
  }

  /** The statement's own text of all that stands from the first to the last. */
  def textOf(first: ParserRuleContext, last: ParserRuleContext): String =
    first.getStart.getInputStream.getText(
      Interval.of(first.getStart.getStartIndex, last.getStop.getStopIndex))

  /** The text that a string literal stands for. */
  def unquote(literal: String): String = {
    val quote = literal.charAt(0).toString
    literal.substring(1, literal.length - 1)
      .replace(quote + quote, quote)
      .replaceAll(raw"(?s)\\(.)", "$1")
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
