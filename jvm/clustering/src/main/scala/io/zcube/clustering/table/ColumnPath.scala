package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.types.DataType

/** A column, or a field of a nested one.
  *
  * @param logical  the names that users know
  * @param physical the names that files and statistics use, under column mapping for example
  */
final case class ColumnPath(logical: Seq[String], physical: Seq[String], dataType: DataType) {

  /** The name as one string, parts joined by dots and quoted where necessary. */
  def name: String = QuotedName.of(logical)

  def attribute: UnresolvedAttribute = UnresolvedAttribute(logical)
}
