package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.{ColumnWithDefaultExprUtils, DeltaOptions}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.{Row, SaveMode, SparkSession, classic}

/** INSERT OVERWRITE of a whole clustered table, which keeps its clustering columns; Delta 4.4.0 loses
  * them.
  */
case class OverwriteClusteredCommand(
    table: DeltaTableV2,
    query: LogicalPlan,
    writeOptions: Map[String, String])
    extends LeafRunnableCommand {

  override def innerChildren: Seq[QueryPlan[_]] = Seq(query)

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val session = sparkSession.asInstanceOf[classic.SparkSession]
    val conf = session.sessionState.conf
    // As Delta's own insert does.
    val nullAsDefault =
      if (conf.useNullsForMissingDefaultColumnValues) {
        Map(ColumnWithDefaultExprUtils.USE_NULL_AS_DEFAULT_DELTA_OPTION -> "true")
      } else Map.empty
    val options = new DeltaOptions(writeOptions ++ nullAsDefault, conf)
    val data = Dataset.ofRows(session, query)
    ClusteredWrite(
      table.deltaLog,
      table.catalogTable,
      SaveMode.Overwrite,
      options,
      table.initialSnapshot.metadata.configuration,
      data).run(session)(txn => ExistingColumns.keptBy(txn.snapshot, data.schema, options))
    session.sharedState.cacheManager.recacheByPlan(session, table.toLogicalRelation)
    Nil
  }
}
