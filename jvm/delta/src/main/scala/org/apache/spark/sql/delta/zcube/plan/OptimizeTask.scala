package org.apache.spark.sql.delta.zcube.plan

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.zcube.table.{ColumnPath, DeltaTableCommand, WhereClause}

/** What one OPTIMIZE by columns has to do.
  *
  * @param snapshot   the table as it is read
  * @param where      files outside of it are left alone
  * @param columns    the clustering columns
  * @param clustered  whether they are the table's own (CLUSTER BY) and not the statement's (ZORDER BY)
  * @param isFull     whether FULL was said
  * @param weights    of the columns, normalised; empty if all are alike
  * @param workload   queries that files are to be skipped by
  * @param isAuto     whether it is auto compaction after a write, not a statement
  */
final case class OptimizeTask(
    snapshot: Snapshot,
    catalogTable: Option[CatalogTable],
    where: WhereClause,
    columns: Seq[ColumnPath],
    clustered: Boolean,
    isFull: Boolean,
    options: OptimizeOptions,
    settings: OptimizeSettings,
    weights: Seq[Double] = Nil,
    workload: Seq[WorkloadQuery] = Nil,
    isAuto: Boolean = false) {

  /** The table as the user knows it, for job descriptions and messages. */
  val tableName: String = DeltaTableCommand.nameOf(catalogTable, snapshot)
}
