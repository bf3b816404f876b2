package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.misc.{Interval, ParseCancellationException}
import org.antlr.v4.runtime.{BaseErrorListener, CharStreams, CommonTokenStream, RecognitionException, Recognizer}

/** Tells an OPTIMIZE statement from its OPTIONS clause.
  *
  * `OPTIMIZE t ZORDER BY (a) OPTIONS ('curve' = 'hilbert')` gives `OPTIMIZE t ZORDER BY (a)` and
  * `curve → hilbert`.
  */
private[parser] object OptimizeOptions {

  private val Shape = raw"(?s)(\s|--[^\n]*\n|/\*.*?\*/)*optimize\b.*\boptions\b.*".r

  /** The statement without its clause, and the options; None for any other statement. */
  def split(sqlText: String): Option[(String, Seq[(String, String)])] =
    // A cheap look first: a grammar must not be run over every statement of the session.
    if (Shape.matches(sqlText.toLowerCase(java.util.Locale.ROOT))) parse(sqlText) else None

  private def parse(sqlText: String): Option[(String, Seq[(String, String)])] = {
    val lexer = new ZCubeSqlBaseLexer(CharStreams.fromString(sqlText))
    lexer.removeErrorListeners()
    val parser = new ZCubeSqlBaseParser(new CommonTokenStream(lexer))
    parser.removeErrorListeners()
    parser.addErrorListener(Cancel)
    try parser.statement() match {
        case c: ZCubeSqlBaseParser.OptimizeWithOptionsContext =>
          val end = c.OPTIONS.getSymbol.getStartIndex - 1
          val head = c.getStart.getInputStream.getText(Interval.of(c.getStart.getStartIndex, end))
          Some((
            head,
            c.option.asScala.toSeq.map(o => unquote(o.key.getText) -> unquote(o.value.getText))))
        case _ => None
      }
    // Not ours then: whoever reads it next says what is wrong.
    catch { case _: ParseCancellationException => None }
  }

  private def unquote(literal: String): String = {
    val quote = literal.charAt(0).toString
    literal.substring(
      1,
      literal.length - 1).replace(quote + quote, quote).replaceAll(raw"\\(.)", "$1")
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
