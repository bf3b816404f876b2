package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.connector.expressions.{Expression, FieldReference, NamedReference, Transform}

/** Columns that a table had when `saveAsTable` was analyzed, and must keep. Delta reads it as its
  * own CLUSTER BY because of its name; ZCube distinguishes it from columns that the user requested.
  *
  * @param columns the columns as named in the table
  * @param inRows the same as named in the rows, where Spark compares names case-sensitively
  */
final case class PreservedClusterBy(columns: Seq[String], inRows: Seq[Seq[String]])
    extends Transform {

  override val name: String = "temp_cluster_by"

  override def arguments: Array[Expression] = references.toArray

  override def references: Array[NamedReference] =
    inRows.map(parts => FieldReference(parts): NamedReference).toArray

  override def toString: String = s"$name(${columns.mkString(", ")})"
}
