package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.commands.WriteIntoDelta
import org.apache.spark.sql.delta.skipping.clustering.temp.ClusterBySpec
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations, DeltaOptions, OptimisticTransaction}

/** Delta's write of a DataFrame, told the clustering columns, in one commit. */
final case class ClusteredWrite(
    log: DeltaLog,
    catalogTable: Option[CatalogTable],
    mode: SaveMode,
    options: DeltaOptions,
    configuration: Map[String, String],
    data: DataFrame) {

  /** @param columns what to set for the table as the transaction reads it; None to leave it to Delta */
  def run(session: SparkSession)(columns: OptimisticTransaction => Option[Seq[String]]): Unit = {
    val _ = log.withNewTransaction(catalogTable) { txn =>
      val set = columns(txn).filter(_.nonEmpty)
      // To append to a table that isn't there yet is to create it.
      val as = if (txn.readVersion < 0 && mode == SaveMode.Append) SaveMode.Overwrite else mode
      val written = WriteIntoDelta(log, as, options, Nil, configuration, data, catalogTable)
        .writeAndReturnCommitData(txn, session, set.map(ClusterBySpec.fromColumnNames))
      val operation = DeltaOperations.Write(
        mode = mode,
        partitionBy = Some(Nil),
        predicate = options.replaceWhere,
        userMetadata = options.userMetadata,
        canOverwriteSchema = if (options.canOverwriteSchema) Some(true) else None,
        canMergeSchema = if (options.canMergeSchema) Some(true) else None
      )
      txn.commitIfNeeded(written.actions, operation, tags = written.stringTags)
    }
  }
}
