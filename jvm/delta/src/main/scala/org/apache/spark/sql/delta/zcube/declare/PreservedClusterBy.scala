package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.connector.expressions.{Expression, FieldReference, NamedReference, Transform}

/** Columns that a table had when `saveAsTable` was analyzed, and is to keep. Delta takes it for its own
  * CLUSTER BY, which it knows by this name; ZCube tells it from columns that the user asked for.
  *
  * @param columns as the table has them
  * @param inRows  the same by the parts of their names in the rows, where Spark looks for them letter by
  *                letter
  */
final case class PreservedClusterBy(columns: Seq[String], inRows: Seq[Seq[String]])
    extends Transform {

  override val name: String = "temp_cluster_by"

  override def arguments: Array[Expression] = references.toArray

  override def references: Array[NamedReference] =
    inRows.map(parts => FieldReference(parts): NamedReference).toArray

  override def toString: String = s"$name(${columns.mkString(", ")})"
}
