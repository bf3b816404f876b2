package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.types.DataType

import io.zcube.sql.errors.ZCubeErrors

/** A column, or a field of a nested one.
  *
  * @param logical  the names that users know
  * @param physical the names that files and statistics use, under column mapping for example
  */
final case class ColumnPath(logical: Seq[String], physical: Seq[String], dataType: DataType) {

  /** The name as one string, parts joined by dots and quoted where necessary. */
  def name: String = ColumnPath.quoted(logical)

  /** Throws ZCUBE_UNORDERED_TYPE for a type that can't be a clustering column's. */
  def checkOrdered(): Unit =
    if (!RowOrdering.isOrderable(dataType)) throw ZCubeErrors.unorderedType(name, dataType)
}

object ColumnPath {

  /** A name of several parts as SQL. */
  def quoted(parts: Seq[String]): String = parts.map(QuotingUtils.quoteIfNeeded).mkString(".")
}
