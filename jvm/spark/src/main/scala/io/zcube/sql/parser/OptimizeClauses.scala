package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute

/** Separates an OPTIMIZE statement from the clauses that ZCube adds to it.
  *
  * `OPTIMIZE t ZORDER BY (a) OPTIONS ('curve' = 'hilbert') DRY RUN` gives `OPTIMIZE t ZORDER BY (a)`,
  * `curve → hilbert`, and that it is a dry run.
  *
  * @param head    the statement without those clauses and without comments
  * @param options keys as the user wrote them
  */
final private[parser] case class OptimizeClauses(
    head: String,
    options: Seq[(String, String)],
    dryRun: Boolean)

private[parser] object OptimizeClauses {

  private val AnyClause = raw"(?i)\b(options|run)\b".r

  /** None for any statement without such a clause. */
  def split(sqlText: String): Option[OptimizeClauses] =
    if (!FirstWords.are(sqlText, "optimize")) None
    else {
      val text = StatementReader.substituted(sqlText)
      if (AnyClause.findFirstIn(text).isEmpty) None else StatementReader.read(text).flatMap(of)
    }

  private def of(reader: StatementReader): Option[OptimizeClauses] = reader.statement match {
    case c: ZCubeSqlBaseParser.OptimizeStatementContext =>
      val clauses = Option(c.OPTIONS).getOrElse(c.DRY).getSymbol
      val options =
        c.option.asScala.toSeq.map(option => key(reader, option) -> value(reader, option))
      Some(OptimizeClauses(reader.textBefore(clauses), options, dryRun = c.DRY != null))
    case _ => None
  }

  private def key(reader: StatementReader, option: ZCubeSqlBaseParser.OptionContext): String =
    Option(option.string).map(reader.unquote).getOrElse(
      UnresolvedAttribute.parseAttributeName(reader.textOf(option.name, option.name)).mkString("."))

  private def value(reader: StatementReader, option: ZCubeSqlBaseParser.OptionContext): String = {
    val value = option.value
    Option(value.string).fold(reader.textOf(value, value))(reader.unquote)
  }
}
