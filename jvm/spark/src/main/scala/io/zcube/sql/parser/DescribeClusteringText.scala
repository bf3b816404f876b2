package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

/** Reads `DESCRIBE CLUSTERING (path | t) [BY (a, b)] [WHERE predicate]`.
  *
  * @param optimize the OPTIMIZE statement that names the same table and columns: Delta's parser
  *   reads it, so both statements name tables in the same way
  * @param where the predicate, which is never inserted into a statement, so it can't be anything
  *   but a predicate
  */
final private[parser] case class DescribeClusteringText(optimize: String, where: Option[String])

private[parser] object DescribeClusteringText {

  /** None for any other statement. */
  def of(sqlText: String): Option[DescribeClusteringText] =
    if (!FirstWords.are(sqlText, "describe", "clustering") &&
      !FirstWords.are(sqlText, "desc", "clustering")) None
    else {
      StatementReader.read(sqlText).flatMap { reader =>
        reader.statement match {
          case c: ZCubeSqlBaseParser.DescribeClusteringContext => of(reader, c)
          case _ => None
        }
      }
    }

  private def of(
      reader: StatementReader,
      c: ZCubeSqlBaseParser.DescribeClusteringContext): Option[DescribeClusteringText] = {
    val columns = Option(c.columns).map { columns =>
      val names = columns.name.asScala.map(name => reader.textOf(name, name))
      s"ZORDER BY (${names.mkString(", ")})"
    }
    val where = Option(c.predicate).map { text =>
      val words = text.any.asScala.toSeq
      words.take(words.lastIndexWhere(_.getText != ";") + 1)
    }
    val optimize =
      (s"OPTIMIZE ${reader.textOf(c.target, c.target)}" +: columns.toSeq).mkString("\n")
    Option.unless(where.exists(_.isEmpty)) {
      DescribeClusteringText(
        optimize,
        where.map(words => reader.rawTextOf(words.head.getStart, words.last.getStop)))
    }
  }
}
