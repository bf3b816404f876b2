package org.apache.spark.sql.delta.zcube.advise

/** A query that the table is to be laid out for.
  *
  * @param weight how often it is asked
  * @param scans  of the table; none if the query wasn't understood, or needs no file
  * @param notes  what was not understood of it, in words
  */
final case class AnalyzedQuery(
    text: String,
    weight: Double,
    scans: Seq[TableScan],
    notes: Seq[String]) {

  def files: Long = scans.map(_.files.size.toLong).sum

  def bytes: Long = scans.map(_.bytes).sum
}
