package org.apache.spark.sql.delta.zcube.format

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.table.DeltaTableCommand

import io.zcube.clustering.table.{ClusterableTable, TableVersion}

/** A Delta table. */
final class DeltaClusterableTable(val log: DeltaLog, val catalogTable: Option[CatalogTable])
    extends ClusterableTable {

  override val name: String = DeltaTableCommand.nameOf(catalogTable, log.dataPath)

  override def nameParts: Seq[String] = catalogTable
    .map(_.identifier.nameParts)
    .getOrElse(Seq("delta", log.dataPath.toString))

  override def latest(): TableVersion =
    new DeltaVersion(this, log.update(catalogTableOpt = catalogTable))
}
