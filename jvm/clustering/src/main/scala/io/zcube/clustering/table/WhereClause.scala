package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.expressions.Expression

/** A statement's WHERE.
  *
  * @param written as the user wrote it, for the table's history and the conflict check
  * @param filters conditions that select files, over the table's columns, in the format's form
  */
final case class WhereClause(written: Seq[Expression], filters: Seq[Expression]) {

  /** Whether it may exclude files. */
  def picks: Boolean = filters.nonEmpty
}

object WhereClause {

  /** No WHERE: selects all files. */
  val Everything: WhereClause = WhereClause(Nil, Nil)
}
