package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

import io.zcube.layout.ColumnWeights
import io.zcube.sql.errors.ZCubeErrors

/** Reads `RECOMMEND CLUSTERING (path | t) FOR 'query' [WEIGHT n], …`.
  *
  * @param optimize the OPTIMIZE statement that names the same table, for Delta's parser to read
  * @param queries  their text and weights
  */
final private[parser] case class RecommendClusteringText(
    optimize: String,
    queries: Seq[(String, Double)])

private[parser] object RecommendClusteringText {

  /** None for any other statement. */
  def of(sqlText: String): Option[RecommendClusteringText] =
    if (!FirstWords.are(sqlText, "recommend", "clustering")) None
    else {
      StatementReader.read(sqlText).flatMap { reader =>
        reader.statement match {
          case c: ZCubeSqlBaseParser.RecommendClusteringContext =>
            val queries = c.query.asScala.toSeq.map { query =>
              reader.unquote(query.sql) -> Option(query.number).fold(1.0)(weightOf)
            }
            Some(RecommendClusteringText(
              s"OPTIMIZE ${reader.textOf(c.target, c.target)}",
              queries))
          case _ => None
        }
      }
    }

  private def weightOf(number: ZCubeSqlBaseParser.NumberContext): Double =
    number.getText.toDoubleOption
      .filter(ColumnWeights.isWeight)
      .getOrElse(
        throw ZCubeErrors.invalidOption("WEIGHT", number.getText, "a number greater than 0"))
}
