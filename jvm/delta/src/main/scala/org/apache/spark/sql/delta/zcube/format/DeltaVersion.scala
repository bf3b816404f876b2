package org.apache.spark.sql.delta.zcube.format

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.expressions.{Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.stats.{DeltaDataSkippingType, PreparedDeltaFileIndex}
import org.apache.spark.sql.delta.zcube.commit.OptimizeMetrics
import org.apache.spark.sql.delta.zcube.table.{LastLayout, LoggedFileStatistics, SnapshotState, StatisticsColumns, TableColumns}
import org.apache.spark.sql.delta.{DeltaLog, Snapshot}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType

import io.zcube.clustering.run.CommitMetrics
import io.zcube.clustering.table._

/** A snapshot of a Delta table. */
final class DeltaVersion(override val table: DeltaClusterableTable, val snapshot: Snapshot)
    extends TableVersion
    with PredicateHelper {
  import DeltaVersion._

  override def schema: StructType = snapshot.schema

  override def partitionColumns: Seq[String] = snapshot.metadata.partitionColumns

  override def clusteringColumns: Seq[ColumnPath] =
    TableColumns.clusteringColumns(SparkSession.active, snapshot)

  override def lastColumns: Option[Seq[ColumnPath]] =
    LastLayout.columns(SparkSession.active, snapshot)

  override def takesClusteringColumns: Boolean =
    ClusteredTableUtils.isSupported(snapshot.protocol)

  override def column(parts: Seq[String], resolver: Resolver): Option[ColumnPath] =
    TableColumns.find(schema, parts, resolver)

  override def hasMinima(column: ColumnPath): Boolean =
    StatisticsColumns.hasMinima(snapshot, column)

  override def hasNullCounts(column: ColumnPath): Boolean =
    StatisticsColumns.hasNullCounts(snapshot, column)

  override def fileCount: Long = snapshot.numOfFiles

  override def select(where: WhereClause): FileSelection = new DeltaSelection(this, where)

  override def statistics(columns: Seq[ColumnPath], withPaths: Boolean): FileStatistics =
    LoggedFileStatistics.of(snapshot, columns, withPaths)

  override def filesRead(condition: Expression): FilesRead = {
    // Delta classifies each conjunct by whether it uses only partition columns.
    val conjuncts = splitConjunctivePredicates(condition)
    readOf(snapshot.filesForScan(conjuncts, keepNumRecords = false).files)
  }

  override def scansIn(optimized: LogicalPlan): Seq[TableScan] =
    optimized.collectWithSubqueries {
      case relation: LogicalRelation => relation.relation
    }.collect {
      case HadoopFsRelation(index: PreparedDeltaFileIndex, _, _, _, _, _)
          if index.deltaLog.dataPath == table.log.dataPath =>
        val scan = index.preparedScan
        val filters = scan.allFilters.toSeq
        def unlimited =
          if (filters.isEmpty) snapshot.numOfFiles
          else snapshot.filesForScan(filters, keepNumRecords = false).files.size.toLong
        // A LIMIT beyond the table's rows ends nothing.
        val isEnded = ByLimit(scan.dataSkippingType) && scan.files.size < unlimited
        TableScan(filters, readOf(scan.files), isEnded)
    }

  override def pastRewrites(max: Int): Seq[RewriteCost] =
    table.log.history
      .getHistory(Some(Commits), table.catalogTable)
      .filter(commit =>
        commit.operation == "OPTIMIZE" && commit.version.forall(_ <= snapshot.version))
      .flatMap { commit =>
        val metrics = commit.operationMetrics.getOrElse(Map.empty)
        for {
          cpu <- metrics.get(CommitMetrics.CpuTimeMs).flatMap(_.toLongOption)
          bytes <- metrics.get(OptimizeMetrics.RemovedBytes).flatMap(_.toLongOption)
          if cpu > 0 && bytes > 0
        } yield RewriteCost(cpu, bytes)
      }
      .take(max)

  override def tune(session: SparkSession): Unit = SnapshotState.setPartitions(session, snapshot)
}

object DeltaVersion {

  def of(log: DeltaLog, catalogTable: Option[CatalogTable], snapshot: Snapshot): DeltaVersion =
    new DeltaVersion(new DeltaClusterableTable(log, catalogTable), snapshot)

  /** Commits to look at for past rewrites: enough to find an OPTIMIZE among many small appends. */
  private val Commits = 500

  /** How scans are prepared of which a LIMIT decides what they read. */
  private val ByLimit = Set(DeltaDataSkippingType.limit, DeltaDataSkippingType.filteredLimit)

  private def readOf(files: Seq[AddFile]): FilesRead =
    FilesRead(files.size.toLong, files.iterator.map(_.size).sum)
}
