package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, V2CreateTablePlan}
import org.apache.spark.sql.connector.expressions.{ClusterByTransform, Transform}
import org.apache.spark.sql.delta.DeltaOptions
import org.apache.spark.sql.delta.skipping.clustering.temp.{ClusterByTransform => DeltaClusterByTransform}
import org.apache.spark.sql.delta.sources.DeltaDataSource
import org.apache.spark.sql.execution.datasources.{DataSourceUtils, SaveIntoDataSourceCommand}
import org.apache.spark.sql.{SaveMode, SparkSession}

import io.zcube.sql.rules.SwitchableRule

/** Passes the clustering columns of a DataFrame writer to Delta, which knows only those from its
  * own SQL. Without it, Delta 4.4.0 rejects `df.write.clusterBy(…).saveAsTable` and
  * `df.writeTo(…).clusterBy(…)`, and `df.write.clusterBy(…).save(path)` silently loses the columns;
  * so does `df.write.mode("overwrite").save(path)`, which doesn't name them.
  */
case class PreserveClusterBy(session: SparkSession) extends SwitchableRule {

  override protected def rewrite(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case create: V2CreateTablePlan
        if create.partitioning.exists(isSparks) && CreatesDelta(create, sessionConf) =>
      create.withPartitioning(create.partitioning.map {
        case ClusterByTransform(columns) => DeltaClusterByTransform(columns)
        case other => other
      })
    case save: SaveIntoDataSourceCommand
        if save.dataSource.getClass == classOf[DeltaDataSource] && mindsColumns(save) =>
      save.copy(dataSource = new ClusteredDeltaDataSource)
  }

  private def mindsColumns(save: SaveIntoDataSourceCommand): Boolean = {
    def overwritesAll = save.mode == SaveMode.Overwrite &&
      // `partitionBy()` without columns is none.
      save.options.get(DataSourceUtils.PARTITIONING_COLUMNS_KEY)
        .forall(DataSourceUtils.decodePartitioningColumns(_).isEmpty) &&
      !new DeltaOptions(save.options, sessionConf).isInsertAtomicReplaceOp
    save.options.contains(DataSourceUtils.CLUSTERING_COLUMNS_KEY) || overwritesAll
  }

  private def isSparks(transform: Transform): Boolean = transform match {
    case ClusterByTransform(_) => true
    case _ => false
  }
}
