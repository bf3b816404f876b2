package io.zcube.clustering.table

import io.zcube.layout.kinds.LayoutKind

/** What a file's tags must say for it to belong to a layout.
  *
  * @param columns  the clustering columns, in their order
  * @param weights  of the columns, normalised; empty if all are alike
  * @param workload the fingerprint of the workload, where there is one
  * @param declared whether the columns are the table's own (CLUSTER BY) and not a statement's
  */
final case class LayoutTag(
    columns: Seq[ColumnPath],
    kind: LayoutKind,
    weights: Seq[Double],
    workload: Option[String],
    declared: Boolean)
