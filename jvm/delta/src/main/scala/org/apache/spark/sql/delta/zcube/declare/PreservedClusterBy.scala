package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.connector.expressions.{Expression, FieldReference, NamedReference, Transform}

/** Columns that a table had when `saveAsTable` was analyzed, and is to keep. Delta takes it for its own
  * CLUSTER BY, which it knows by this name; ZCube tells it from columns that the user asked for.
  */
final case class PreservedClusterBy(columns: Seq[String]) extends Transform {

  override val name: String = "temp_cluster_by"

  override def arguments: Array[Expression] = references.toArray

  override def references: Array[NamedReference] =
    columns.map(FieldReference(_)).toArray

  override def toString: String = s"$name(${columns.mkString(", ")})"
}
