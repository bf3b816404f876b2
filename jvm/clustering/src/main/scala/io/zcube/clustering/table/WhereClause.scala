package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.expressions.Expression

/** A statement's WHERE.
  *
  * @param written as the user wrote it, for the table's history and for the check of conflicts
  * @param filters what files are picked by, over the table's columns, as the format takes them
  */
final case class WhereClause(written: Seq[Expression], filters: Seq[Expression]) {

  /** Whether files may be left out. */
  def picks: Boolean = filters.nonEmpty
}

object WhereClause {

  /** There is none: all files. */
  val Everything: WhereClause = WhereClause(Nil, Nil)
}
