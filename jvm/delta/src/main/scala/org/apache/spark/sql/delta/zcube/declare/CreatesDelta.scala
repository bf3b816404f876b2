package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.connector.catalog.CatalogV2Util
import org.apache.spark.sql.delta.catalog.AbstractDeltaCatalog
import org.apache.spark.sql.delta.sources.DeltaSourceUtils
import org.apache.spark.sql.internal.SQLConf

/** Whether a CREATE or REPLACE TABLE, of any kind, makes a Delta table. */
private[declare] object CreatesDelta {

  def apply(create: V2CreateTablePlan, conf: SQLConf): Boolean = {
    val spec = create match {
      case c: CreateTable => Some(c.tableSpec)
      case c: CreateTableAsSelect => Some(c.tableSpec)
      case c: ReplaceTable => Some(c.tableSpec)
      case c: ReplaceTableAsSelect => Some(c.tableSpec)
      case _ => None
    }
    spec.exists { table =>
      def default = conf.defaultDataSourceName
      // The default is of no matter to catalogs that know only their own format.
      val provider = table.provider.orElse(Option.when(isForDelta(create))(default))
      provider.exists(DeltaSourceUtils.isDeltaDataSourceName)
    }
  }

  private def isForDelta(create: V2CreateTablePlan): Boolean = create.name match {
    case ResolvedIdentifier(catalog, _) =>
      catalog.isInstanceOf[AbstractDeltaCatalog] || CatalogV2Util.isSessionCatalog(catalog)
    case _ => false
  }
}
