package io.zcube.clustering.table

import io.zcube.layout.kinds.LayoutKind

/** The tags that a file must have to belong to a layout.
  *
  * @param columns  the clustering columns, in their order
  * @param weights of the columns, normalized; empty if all are equal
  * @param workload the fingerprint of the workload, if there is one
  * @param declared whether the columns are the table's own (CLUSTER BY) and not a statement's
  */
final case class LayoutTag(
    columns: Seq[ColumnPath],
    kind: LayoutKind,
    weights: Seq[Double],
    workload: Option[String],
    declared: Boolean)
