package org.apache.spark.sql.delta.zcube.declare

import org.apache.spark.sql.catalyst.analysis.NamedRelation
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.{DeltaDynamicPartitionOverwriteCommand, DeltaOptions}
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{Row, SaveMode, SparkSession, classic}

/** Delta's command for `overwritePartitions`, with the write that keeps the clustering columns: on
  * a table without partitions, the command overwrites everything.
  */
final class ClusteredPartitionOverwrite(
    table: NamedRelation,
    deltaTable: DeltaTableV2,
    query: LogicalPlan,
    writeOptions: Map[String, String],
    isByName: Boolean,
    analyzedQuery: Option[LogicalPlan])
    extends DeltaDynamicPartitionOverwriteCommand(
      table,
      deltaTable,
      query,
      writeOptions,
      isByName,
      analyzedQuery) {

  override def nodeName: String = "DeltaDynamicPartitionOverwriteCommand"

  // Otherwise Delta's command would be equal to it, and a rule that replaces it would change
  // nothing.
  override def canEqual(other: Any): Boolean = other.isInstanceOf[ClusteredPartitionOverwrite]

  override def withNewQuery(newQuery: LogicalPlan): ClusteredPartitionOverwrite =
    ClusteredPartitionOverwrite(super.withNewQuery(newQuery))

  override def withNewTable(newTable: NamedRelation): ClusteredPartitionOverwrite =
    ClusteredPartitionOverwrite(super.withNewTable(newTable))

  override def storeAnalyzedQuery(): Command = new ClusteredPartitionOverwrite(
    table,
    deltaTable,
    query,
    writeOptions,
    isByName,
    Some(query))

  override protected def withNewChildInternal(newChild: LogicalPlan): ClusteredPartitionOverwrite =
    withNewQuery(newChild)

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val session = sparkSession.asInstanceOf[classic.SparkSession]
    val all = deltaTable.options ++ writeOptions +
      (DeltaOptions.PARTITION_OVERWRITE_MODE_OPTION -> DeltaOptions.PARTITION_OVERWRITE_MODE_DYNAMIC)
    val options = new DeltaOptions(all, session.sessionState.conf)
    // Rejected by Delta.
    if (options.isReplaceOnOrUsingDefined) super.run(sparkSession)
    else {
      new ClusteredWrite(
        deltaTable.deltaLog,
        SaveMode.Overwrite,
        options,
        Nil,
        deltaTable.deltaLog.unsafeVolatileSnapshot.metadata.configuration,
        Sessions.rowsOf(session, query),
        deltaTable.catalogTable
      ).run(session)
    }
  }
}

object ClusteredPartitionOverwrite {
  def apply(command: DeltaDynamicPartitionOverwriteCommand): ClusteredPartitionOverwrite =
    new ClusteredPartitionOverwrite(
      command.table,
      command.deltaTable,
      command.query,
      command.writeOptions,
      command.isByName,
      command.analyzedQuery)
}
