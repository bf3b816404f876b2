package org.apache.spark.sql.delta.zcube.advise

import org.apache.spark.sql.catalyst.expressions.{And, Expression, Literal}
import org.apache.spark.sql.delta.actions.AddFile

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

/** One scan of the table in a query, as the optimizer left it.
  *
  * @param filters that were pushed down to it, over the table's columns; all must hold
  * @param files   that it reads today, after Delta has skipped what it can
  */
final case class TableScan(filters: Seq[Expression], files: Seq[AddFile]) {

  def condition: Expression = filters.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)

  def bytes: Long = files.map(_.size).sum
}
