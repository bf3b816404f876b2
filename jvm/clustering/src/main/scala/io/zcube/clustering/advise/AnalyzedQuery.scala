package io.zcube.clustering.advise

import io.zcube.clustering.table.TableScan

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

  def files: Long = scans.map(_.read.files).sum

  def bytes: Long = scans.map(_.read.bytes).sum
}
