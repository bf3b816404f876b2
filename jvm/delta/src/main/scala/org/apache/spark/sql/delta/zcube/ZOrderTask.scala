package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.Snapshot

/** What one OPTIMIZE … ZORDER BY has to do.
  *
  * @param snapshot   the table as it is read
  * @param predicates on partition columns; files outside are left alone
  * @param zOrderBy   the columns, nested ones by their path
  */
final case class ZOrderTask(
    snapshot: Snapshot,
    catalogTable: Option[CatalogTable],
    predicates: Seq[Expression],
    zOrderBy: Seq[UnresolvedAttribute],
    options: OptimizeOptions,
    settings: OptimizeSettings) {

  /** The table as the user knows it, for job descriptions and messages. */
  val tableName: String = catalogTable
    .map(_.identifier.unquotedString)
    .getOrElse(snapshot.deltaLog.dataPath.toString)
}
