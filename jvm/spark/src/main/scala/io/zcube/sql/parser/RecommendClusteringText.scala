package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

import io.zcube.sql.errors.ZCubeErrors

/** Reads `RECOMMEND CLUSTERING (path | t) FOR 'query' [WEIGHT n], …`.
  *
  * @param optimize the OPTIMIZE statement that names the same table, for Delta's parser to read
  * @param queries  texts and weights
  */
final private[parser] case class RecommendClusteringText(
    optimize: String,
    queries: Seq[(String, Double)])

private[parser] object RecommendClusteringText {

  private val shape = new StatementReader.Shape(raw"recommend\b.*\bclustering\b.*")

  /** None for any other statement. */
  def of(sqlText: String): Option[RecommendClusteringText] =
    if (!shape.fits(sqlText)) None
    else {
      StatementReader.read(sqlText).collect {
        case c: ZCubeSqlBaseParser.RecommendClusteringContext =>
          RecommendClusteringText(
            s"OPTIMIZE ${StatementReader.textOf(c.target, c.target)}",
            c.query.asScala.toSeq.map { query =>
              val weight = Option(query.number).fold(1.0)(weightOf)
              StatementReader.unquote(query.sql.getText) -> weight
            }
          )
      }
    }

  private def weightOf(number: ZCubeSqlBaseParser.NumberContext): Double =
    number.getText.toDoubleOption
      .filter(weight => weight > 0 && !weight.isInfinite)
      .getOrElse(
        throw ZCubeErrors.invalidOption("WEIGHT", number.getText, "a number greater than 0"))
}
