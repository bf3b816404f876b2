package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.delta.actions.{Action, Metadata}
import org.apache.spark.sql.delta.commands.DMLUtils.TaggedCommitData
import org.apache.spark.sql.delta.commands.WriteIntoDelta
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.skipping.clustering.temp.ClusterBySpec
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog, DeltaOptions, OptimisticTransaction}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.{SaveMode, SparkSession}

import io.zcube.sql.errors.ZCubeErrors

/** Delta's write of a DataFrame, with correct clustering columns. Everything else is inherited: the
  * check for replays (`txnAppId`, `txnVersion`), the transaction, the operation and its metrics.
  * The columns are determined from the transaction's snapshot.
  *
  * @param columns the columns from the user's `clusterBy`, or none
  */
final class ClusteredWrite(
    log: DeltaLog,
    mode: SaveMode,
    options: DeltaOptions,
    partitionColumns: Seq[String],
    configuration: Map[String, String],
    data: DataFrame,
    catalogTable: Option[CatalogTable],
    columns: Seq[String] = Nil)
    extends WriteIntoDelta(
      log,
      mode,
      options,
      partitionColumns,
      // Delta uses it only if it creates the table.
      if (columns.isEmpty) configuration
      else configuration ++ ClusteredTableUtils.getTableFeatureProperties(configuration),
      data,
      catalogTable
    ) {

  override def writeAndReturnCommitData(
      txn: OptimisticTransaction,
      session: SparkSession,
      clusterBy: Option[ClusterBySpec],
      isTableReplace: Boolean): TaggedCommitData[Action] = {
    def written(requested: Option[ClusterBySpec]) =
      super.writeAndReturnCommitData(txn, session, clusterBy.orElse(requested), isTableReplace)
    if (columns.isEmpty) kept(txn, written(None))
    else {
      val requested = ClusterBySpec.fromColumnNames(columns)
      val makes = txn.readVersion < 0
      val writes = mode == SaveMode.Append || mode == SaveMode.Overwrite
      // A table may have more columns than this session would declare.
      def changes = !PreservedColumns.areSame(PreservedColumns.of(txn.snapshot), columns)
      if (makes || writes && changes) {
        ClusteredTableUtils.validateNumClusteringColumns(
          requested.columnNames.map(_.fieldNames.toSeq),
          Some(log))
      }
      if (makes && comparesColumns) writtenToNew(txn, requested, written(None))
      else if (makes || setsAnew(txn)) written(Some(requested))
      else kept(txn, written(None))
    }
  }

  private def overwrites: Boolean =
    mode == SaveMode.Overwrite && !options.isInsertAtomicReplaceOp

  /** Whether Delta compares the columns with the table's: of what appends, or replaces a part. */
  private def comparesColumns: Boolean =
    mode == SaveMode.Append || mode == SaveMode.Overwrite && options.isInsertAtomicReplaceOp

  private def kept(txn: OptimisticTransaction, written: TaggedCommitData[Action]) =
    if (overwrites) {
      written.copy(actions = PreservedColumns(txn, written.actions, options.canOverwriteSchema))
    } else written

  /** The columns are added after the write, as there are none yet that Delta could compare them with. */
  private def writtenToNew(
      txn: OptimisticTransaction,
      requested: ClusterBySpec,
      written: => TaggedCommitData[Action]): TaggedCommitData[Action] = {
    // Rejected before anything is written.
    val metadata = Metadata(
      schemaString = data.schema.asNullable.json,
      configuration = PreservedColumns.unmapped(
        DeltaConfigs.mergeGlobalConfigs(SQLConf.get, configuration))
    )
    ClusteredTableUtils.validateClusteringColumnsInStatsSchema(txn.protocol, metadata, requested)
    val done = written
    done.copy(actions =
      ClusteredTableUtils.getDomainMetadataFromTransaction(Some(requested), txn) ++ done.actions)
  }

  /** Whether this write sets the columns of an existing table; throws if it may not. */
  private def setsAnew(txn: OptimisticTransaction): Boolean = {
    val existing = PreservedColumns.of(txn.snapshot)
    val changesNothing = PreservedColumns.areSame(existing, columns)
    val replacesSchema = overwrites && options.canOverwriteSchema
    val writes = mode == SaveMode.Overwrite || mode == SaveMode.Append
    if (!writes) false
    else if (replacesSchema && (changesNothing || txn.metadata.partitionColumns.isEmpty)) {
      PreservedColumns.addFeature(txn)
      true
    } else if (changesNothing) false
    else throw ZCubeErrors.clusteringMismatch(columns, existing ++ txn.metadata.partitionColumns)
  }
}
