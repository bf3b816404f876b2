package org.apache.spark.sql.delta.zcube.declare

import java.util.Locale

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.connector.expressions.FieldReference
import org.apache.spark.sql.delta.actions.{Action, Metadata, Protocol}
import org.apache.spark.sql.delta.clustering.ClusteringMetadataDomain
import org.apache.spark.sql.delta.skipping.clustering.temp.ClusterBySpec
import org.apache.spark.sql.delta.skipping.clustering.{ClusteredTableUtils, ClusteringColumn, ClusteringColumnInfo}
import org.apache.spark.sql.delta.{ClusteringTableFeature, DeltaConfigs, OptimisticTransaction, Snapshot}

/** The clustering columns that an overwrite keeps. Delta 4.4.0's overwrite adds an action that
  * removes them; without that action they stay.
  */
object PreservedColumns {

  /** Names as written by users; none if the log names a column that the table doesn't have. */
  def of(snapshot: Snapshot): Seq[String] =
    try ClusteringColumnInfo.extractLogicalNames(snapshot)
    catch { case _: NoSuchElementException => Nil }

  /** For checks of a schema whose columns have no physical names yet, and get them only if the table is
    * made with it.
    */
  def unmapped(configuration: Map[String, String]): Map[String, String] =
    configuration - DeltaConfigs.COLUMN_MAPPING_MODE.key

  /** Whether Delta would reject a table with these columns because the log wouldn't have statistics of
    * one of them.
    */
  def lackStatistics(protocol: Protocol, metadata: Metadata, names: Seq[String]): Boolean =
    try {
      val spec = ClusterBySpec.fromColumnNames(names)
      ClusteredTableUtils.validateClusteringColumnsInStatsSchema(protocol, metadata, spec)
      false
    } catch {
      case e: SparkThrowable => e.getCondition == "DELTA_CLUSTERING_COLUMN_MISSING_STATS"
    }

  /** @param actions        actions that Delta's overwrite passes to this transaction's commit
    * @param replacesSchema whether it may have replaced the schema
    */
  def apply(
      txn: OptimisticTransaction,
      actions: Seq[Action],
      replacesSchema: Boolean): Seq[Action] = {
    val before =
      if (of(txn.snapshot).isEmpty) Nil
      else ClusteredTableUtils.getClusteringColumnsOptional(txn.snapshot).getOrElse(Nil)
    // Another schema may lack columns that an ALTER TABLE … CLUSTER BY sets meanwhile. Delta detects
    // that if both transactions set the columns.
    def keepsSchema = txn.metadata.schema == txn.snapshot.metadata.schema
    lazy val after = if (replacesSchema) inNewSchema(txn) else Some(before)
    actions.flatMap {
      case action @ ClusteringMetadataDomain(domain, _)
          if before.nonEmpty && domain.clusteringColumns.isEmpty =>
        after match {
          case Some(columns) if columns == before && keepsSchema => None
          // With column mapping, the columns of a new schema have new physical names.
          case Some(columns) => Some(ClusteredTableUtils.createDomainMetadata(columns))
          case None => Some(action)
        }
      case action => Some(action)
    }
  }

  /** The columns with the same names in the table's schema after this transaction; None if one is
    * missing or can't be clustered by any more: then all are removed, as with Delta.
    */
  private def inNewSchema(txn: OptimisticTransaction): Option[Seq[ClusteringColumn]] =
    if (txn.metadata.partitionColumns.nonEmpty) None
    else {
      val names = of(txn.snapshot)
      val spec = ClusterBySpec.fromColumnNames(names)
      try {
        ClusteredTableUtils.validateClusteringColumnsInStatsSchema(txn.protocol, txn.metadata, spec)
        Some(names.map(ClusteringColumn(txn.metadata.schema, _)))
      }
      // Any other failure must not look like a missing column.
      catch { case _: AnalysisException => None }
    }

  /** Whether user-written names mean the same columns, ignoring case and backquotes. */
  def areSame(some: Seq[String], others: Seq[String]): Boolean = {
    def folded(names: Seq[String]) =
      names.map(FieldReference(_).fieldNames.toSeq.map(_.toLowerCase(Locale.ROOT)))
    folded(some) == folded(others)
  }

  /** The actions that a table needs if it had no clustering columns so far. */
  def addFeature(txn: OptimisticTransaction): Unit =
    if (!ClusteredTableUtils.isSupported(txn.protocol)) {
      txn.updateProtocol(txn.protocol.merge(Protocol.forTableFeature(ClusteringTableFeature)))
    }
}
