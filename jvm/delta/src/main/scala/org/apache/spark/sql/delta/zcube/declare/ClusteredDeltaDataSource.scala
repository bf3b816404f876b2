package org.apache.spark.sql.delta.zcube.declare

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.delta.sources.DeltaDataSource
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaErrors, DeltaLog, DeltaOptions}
import org.apache.spark.sql.execution.datasources.DataSourceUtils
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.{DataFrame, SQLContext, SaveMode, classic}

import io.zcube.sql.errors.ZCubeErrors

/** Delta's data source for `df.write[.clusterBy(…)].save(path)`: it differs only in the clustering
  * columns, which Delta 4.4.0 doesn't read from the options and loses in an overwrite. Spark's
  * command around it stays.
  */
final class ClusteredDeltaDataSource extends DeltaDataSource {

  override def createRelation(
      context: SQLContext,
      mode: SaveMode,
      parameters: Map[String, String],
      data: DataFrame): BaseRelation = {
    val session = context.sparkSession.asInstanceOf[classic.SparkSession]
    val options = new DeltaOptions(parameters, session.sessionState.conf)
    def decoded(key: String) =
      parameters.get(key).map(DataSourceUtils.decodePartitioningColumns).getOrElse(Nil)
    val columns = decoded(DataSourceUtils.CLUSTERING_COLUMNS_KEY)
    val path =
      new Path(parameters.getOrElse("path", throw DeltaErrors.pathNotSpecifiedException))
    def log = DeltaLog.forTable(session, path, parameters)
    if (options.isReplaceOnOrUsingDefined) {
      // Delta's command for these copies its write, and doesn't change the columns.
      val existing = PreservedColumns.of(log.update())
      if (columns.nonEmpty && !PreservedColumns.areSame(columns, existing)) {
        throw ZCubeErrors.clusteringMismatch(columns, existing)
      }
      super.createRelation(context, mode, parameters, data)
    } else {
      val table = log
      val configuration =
        DeltaConfigs.validateConfigurations(parameters.filter(_._1.startsWith("delta.")))
      val _ = new ClusteredWrite(
        table,
        mode,
        options,
        decoded(DataSourceUtils.PARTITIONING_COLUMNS_KEY),
        configuration,
        data.asInstanceOf[classic.DataFrame],
        None,
        columns).run(session)
      table.createRelation()
    }
  }
}
