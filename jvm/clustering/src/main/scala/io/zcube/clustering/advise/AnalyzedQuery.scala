package io.zcube.clustering.advise

import io.zcube.clustering.table.TableScan

/** A query for which the table should be laid out.
  *
  * @param weight how often it runs
  * @param scans  its scans of the table; none if the query wasn't understood, or needs no file
  * @param notes  what was not understood, in words
  */
final case class AnalyzedQuery(
    text: String,
    weight: Double,
    scans: Seq[TableScan],
    notes: Seq[String]) {

  def files: Long = scans.map(_.read.files).sum

  def bytes: Long = scans.map(_.read.bytes).sum
}
