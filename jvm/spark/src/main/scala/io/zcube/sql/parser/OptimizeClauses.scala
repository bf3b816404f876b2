package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.misc.Interval

/** Tells an OPTIMIZE statement from the clauses that ZCube adds to it.
  *
  * `OPTIMIZE t ZORDER BY (a) OPTIONS ('curve' = 'hilbert') DRY RUN` gives `OPTIMIZE t ZORDER BY (a)`,
  * `curve → hilbert`, and that it is a dry run.
  *
  * @param head    the statement without those clauses
  * @param options keys as the user wrote them
  */
final private[parser] case class OptimizeClauses(
    head: String,
    options: Seq[(String, String)],
    dryRun: Boolean)

private[parser] object OptimizeClauses {

  private val shape = new StatementReader.Shape(raw"optimize\b.*\b(options|run)\b.*")

  /** None for any statement without such a clause. */
  def split(sqlText: String): Option[OptimizeClauses] =
    if (!shape.fits(sqlText)) None
    else {
      StatementReader.read(sqlText).collect {
        case c: ZCubeSqlBaseParser.OptimizeStatementContext =>
          val end = Option(c.OPTIONS).getOrElse(c.DRY).getSymbol.getStartIndex - 1
          OptimizeClauses(
            c.getStart.getInputStream.getText(Interval.of(c.getStart.getStartIndex, end)),
            c.option.asScala.toSeq.map(o =>
              StatementReader.unquote(o.key.getText) -> StatementReader.unquote(o.value.getText)),
            dryRun = c.DRY != null
          )
      }
    }
}
