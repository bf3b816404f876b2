package io.zcube.sql.parser

import scala.jdk.CollectionConverters._

/** Reads `DESCRIBE CLUSTERING (path | t) [BY (a, b)] [WHERE predicate]`. */
private[parser] object DescribeClusteringText {

  private val shape = new StatementReader.Shape(raw"desc(ribe)?\b.*\bclustering\b.*")

  /** The OPTIMIZE statement that names the same table, columns and files: Delta's parser reads it, so
    * that whatever names a table there names it here. None for any other statement.
    */
  def asOptimize(sqlText: String): Option[String] =
    if (!shape.fits(sqlText)) None
    else {
      StatementReader.read(sqlText).flatMap {
        case c: ZCubeSqlBaseParser.DescribeClusteringContext => asOptimize(c)
        case _ => None
      }
    }

  private def asOptimize(c: ZCubeSqlBaseParser.DescribeClusteringContext): Option[String] = {
    val where = Option(c.predicate).map { text =>
      val words = text.any.asScala.toSeq
      words.take(words.lastIndexWhere(_.getText != ";") + 1)
    }
    val clauses = Seq(s"OPTIMIZE ${StatementReader.textOf(c.target, c.target)}") ++
      where.filter(_.nonEmpty).map(words =>
        s"WHERE ${StatementReader.textOf(words.head, words.last)}") ++
      Option(c.columns).map { columns =>
        val names = columns.name.asScala.map(name => StatementReader.textOf(name, name))
        s"ZORDER BY (${names.mkString(", ")})"
      }
    Option.unless(where.exists(_.isEmpty))(clauses.mkString("\n"))
  }
}
