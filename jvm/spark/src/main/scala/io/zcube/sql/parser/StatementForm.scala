package io.zcube.sql.parser

/** The form of ZCube's statements, for errors: Spark's own names the token where its parser stopped,
  * as if the statement didn't exist.
  */
private[parser] object StatementForm {

  val Optimize: String = "OPTIMIZE table [FULL] [WHERE predicate] [ZORDER BY (column, …)] " +
    "[OPTIONS ('key' = 'value', …)] [DRY RUN]"

  private val Describe = "DESCRIBE CLUSTERING table [BY (column, …)] [WHERE predicate]"

  private val Recommend = "RECOMMEND CLUSTERING table FOR 'query' [WEIGHT number], …"

  private val OfClustering =
    Seq("describe" -> Describe, "desc" -> Describe, "recommend" -> Recommend)

  private val Clauses = raw"(?i)\b(options\s*\(|dry\s+run\b)".r

  /** The form of a statement that seems to be meant for ZCube. */
  def of(sqlText: String): Option[String] = ofClustering(sqlText).orElse(Option.when(
    FirstWords.are(sqlText, "optimize") && Clauses.findFirstIn(sqlText).isDefined)(Optimize))

  /** The same of one that begins with DESCRIBE CLUSTERING or RECOMMEND CLUSTERING. */
  def ofClustering(sqlText: String): Option[String] = OfClustering.collectFirst {
    case (first, form) if FirstWords.are(sqlText, first, "clustering") => form
  }
}
