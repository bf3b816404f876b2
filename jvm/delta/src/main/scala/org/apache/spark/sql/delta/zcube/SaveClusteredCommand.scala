package org.apache.spark.sql.delta.zcube

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.classic.Dataset
import org.apache.spark.sql.delta.actions.Protocol
import org.apache.spark.sql.delta.skipping.clustering.{ClusteredTableUtils, ClusteringColumnInfo}
import org.apache.spark.sql.delta.{ClusteringTableFeature, DeltaConfigs, DeltaErrors, DeltaLog, DeltaOptions, OptimisticTransaction}
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.execution.datasources.SaveIntoDataSourceCommand
import org.apache.spark.sql.{Row, SaveMode, SparkSession, classic}

import io.zcube.sql.errors.ZCubeErrors

/** `df.write[.clusterBy(…)].save(path)`: makes a clustered table, or writes to one that has the same
  * columns. An overwrite without columns keeps those that there are; one with the option
  * `overwriteSchema` may change them, or give columns to a table that had none.
  *
  * @param save    Spark's command, without the columns
  * @param columns names as the user wrote them, or none
  */
case class SaveClusteredCommand(save: SaveIntoDataSourceCommand, columns: Seq[String])
    extends LeafRunnableCommand {

  override def innerChildren: Seq[QueryPlan[_]] = save.innerChildren

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val session = sparkSession.asInstanceOf[classic.SparkSession]
    val path = save.options.getOrElse("path", throw DeltaErrors.pathNotSpecifiedException)
    val log = DeltaLog.forTable(session, new Path(path), save.options)
    val snapshot = log.update()
    val options = new DeltaOptions(save.options, session.sessionState.conf)
    lazy val data = Dataset.ofRows(session, save.query)
    if (columns.nonEmpty) {
      val parts = columns.map(session.sessionState.sqlParser.parseMultipartIdentifier(_))
      ClusteredTableUtils.validateNumClusteringColumns(parts, Some(log))
      val feature =
        if (snapshot.version >= 0) Map.empty[String, String]
        else ClusteredTableUtils.getTableFeatureProperties(Map.empty)
      write(log, options, data, feature).run(session) { txn =>
        Option.when(txn.readVersion < 0 || setsColumns(txn, options))(columns)
      }
      Nil
    } else {
      val kept = if (snapshot.version < 0 || options.isInsertAtomicReplaceOp) None
      else ExistingColumns.keptBy(snapshot, data.schema, options)
      if (kept.isEmpty) save.run(session)
      else {
        write(log, options, data, Map.empty).run(session)(txn =>
          ExistingColumns.keptBy(txn.snapshot, data.schema, options))
        Nil
      }
    }
  }

  private def write(
      log: DeltaLog,
      options: DeltaOptions,
      data: classic.DataFrame,
      more: Map[String, String]): ClusteredWrite = {
    val asked = DeltaConfigs.validateConfigurations(save.options.filter(_._1.startsWith("delta.")))
    ClusteredWrite(log, None, save.mode, options, asked ++ more, data)
  }

  /** Whether this write sets the table's columns anew; refused where it may not and they differ. */
  private def setsColumns(txn: OptimisticTransaction, options: DeltaOptions): Boolean = {
    val existing = ClusteringColumnInfo.extractLogicalNames(txn.snapshot)
    val overwrites = save.mode == SaveMode.Overwrite && !options.isInsertAtomicReplaceOp
    val writes = save.mode == SaveMode.Overwrite || save.mode == SaveMode.Append
    val same = existing.map(_.toLowerCase) == columns.map(_.toLowerCase)
    if (same || !writes) overwrites
    else if (overwrites && options.canOverwriteSchema && txn.metadata.partitionColumns.isEmpty) {
      if (!ClusteredTableUtils.isSupported(txn.protocol)) {
        txn.updateProtocol(txn.protocol.merge(Protocol.forTableFeature(ClusteringTableFeature)))
      }
      true
    } else throw ZCubeErrors.clusteringMismatch(columns, existing ++ txn.metadata.partitionColumns)
  }
}
