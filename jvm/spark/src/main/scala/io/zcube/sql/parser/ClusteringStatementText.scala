package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

import org.antlr.v4.runtime.ParserRuleContext

import io.zcube.layout.ColumnWeights
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.{ClusteringRequest, DescribeClustering, RecommendClustering}

/** Reads the statements of ZCube's own, such as
  * `DESCRIBE CLUSTERING (path | t) [BY (a, b)] [WHERE predicate]` and
  * `RECOMMEND CLUSTERING (path | t) FOR 'query' [WEIGHT n], …`.
  *
  * @param optimize the OPTIMIZE statement that names the same table and columns: Delta's parser
  *   reads it, so all statements name tables in the same way. A predicate is never inserted into it,
  *   so it can't be anything but a predicate.
  */
final private[parser] case class ClusteringStatementText(
    optimize: String,
    request: ClusteringRequest)

private[parser] object ClusteringStatementText {

  /** None for any other statement. */
  def of(sqlText: String): Option[ClusteringStatementText] =
    if (StatementForm.ofClustering(sqlText).isEmpty) None
    else {
      StatementReader.read(StatementReader.substituted(sqlText)).flatMap { reader =>
        reader.statement match {
          case c: ZCubeSqlBaseParser.DescribeClusteringContext => describe(reader, c)
          case c: ZCubeSqlBaseParser.RecommendClusteringContext => Some(recommend(reader, c))
          case _ => None
        }
      }
    }

  private def describe(
      reader: StatementReader,
      c: ZCubeSqlBaseParser.DescribeClusteringContext): Option[ClusteringStatementText] = {
    val columns = Option(c.columns).map { columns =>
      val names = columns.name.asScala.map(name => reader.textOf(name, name))
      s"\nZORDER BY (${names.mkString(", ")})"
    }
    val where = Option(c.predicate).map { text =>
      val words = text.any.asScala.toSeq
      words.take(words.lastIndexWhere(_.getText != ";") + 1)
    }
    Option.unless(where.exists(_.isEmpty)) {
      val predicate =
        where.map(words => reader.rawTextOf(words.head.getStart, words.last.getStop))
      ClusteringStatementText(
        optimizing(reader, c.target) + columns.getOrElse(""),
        DescribeClustering(predicate))
    }
  }

  private def recommend(
      reader: StatementReader,
      c: ZCubeSqlBaseParser.RecommendClusteringContext): ClusteringStatementText = {
    val queries = c.query.asScala.toSeq.map { query =>
      reader.unquote(query.sql) -> Option(query.number).fold(1.0)(weightOf)
    }
    ClusteringStatementText(optimizing(reader, c.target), RecommendClustering(queries))
  }

  private def optimizing(reader: StatementReader, target: ParserRuleContext): String =
    s"OPTIMIZE ${reader.textOf(target, target)}"

  private def weightOf(number: ZCubeSqlBaseParser.NumberContext): Double =
    number.getText.toDoubleOption
      .filter(ColumnWeights.isWeight)
      .getOrElse(
        throw ZCubeErrors.invalidOption("WEIGHT", number.getText, "a number greater than 0"))
}
