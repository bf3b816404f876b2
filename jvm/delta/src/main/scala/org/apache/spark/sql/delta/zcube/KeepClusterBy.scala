package org.apache.spark.sql.delta.zcube

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.connector.expressions.{ClusterByTransform, FieldReference, Transform}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.skipping.clustering.temp.{ClusterByTransform => DeltaClusterByTransform}
import org.apache.spark.sql.delta.sources.{DeltaDataSource, DeltaSourceUtils}
import org.apache.spark.sql.delta.{DeltaDynamicPartitionOverwriteCommand, DeltaOptions}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.datasources.{DataSourceUtils, SaveIntoDataSourceCommand}
import org.apache.spark.sql.{SaveMode, SparkSession}

import io.zcube.sql.ZCubeConf

/** Hands the clustering columns of a DataFrame's writer over to Delta, which knows its own SQL's only:
  * `df.write.clusterBy(…).saveAsTable` and `df.writeTo(…).clusterBy(…)` are refused by Delta 4.4.0
  * without it, and `df.write.clusterBy(…).save(path)` loses the columns without a word; so do
  * overwrites that say nothing of columns.
  */
case class KeepClusterBy(session: SparkSession) extends Rule[LogicalPlan] {
  import KeepClusterBy._

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!session.sessionState.conf.getConf(ZCubeConf.Enabled)) plan
    else {
      plan.resolveOperatorsUp {
        case create: V2CreateTablePlan if create.partitioning.exists(isSparks) && isDelta(create) =>
          create.withPartitioning(create.partitioning.map {
            case ClusterByTransform(columns) => DeltaClusterByTransform(columns)
            case other => other
          })
        case replace: ReplaceTableAsSelect
            if replace.partitioning.isEmpty && isDelta(replace) && replace.query.resolved &&
              replace.writeOptions.contains(SavesAsTable) =>
          existingColumns(replace)
            .map(columns =>
              replace.withPartitioning(
                Seq(DeltaClusterByTransform(columns.map(FieldReference(_))))): LogicalPlan)
            .getOrElse(replace)
        case save: SaveIntoDataSourceCommand if save.dataSource.isInstanceOf[DeltaDataSource] =>
          save.options.get(DataSourceUtils.CLUSTERING_COLUMNS_KEY) match {
            case Some(columns) =>
              SaveClusteredCommand(
                save.copy(options = save.options - DataSourceUtils.CLUSTERING_COLUMNS_KEY),
                DataSourceUtils.decodePartitioningColumns(columns))
            case None if save.mode == SaveMode.Overwrite && !isPartitioned(save) =>
              SaveClusteredCommand(save, Nil)
            case None => save
          }
      }
    }

  private def isPartitioned(save: SaveIntoDataSourceCommand): Boolean =
    save.options.contains(DataSourceUtils.PARTITIONING_COLUMNS_KEY)

  private def isSparks(transform: Transform): Boolean = transform match {
    case ClusterByTransform(_) => true
    case _ => false
  }

  private def isDelta(create: V2CreateTablePlan): Boolean = {
    val spec = create match {
      case c: CreateTable => Some(c.tableSpec)
      case c: CreateTableAsSelect => Some(c.tableSpec)
      case c: ReplaceTable => Some(c.tableSpec)
      case c: ReplaceTableAsSelect => Some(c.tableSpec)
      case _ => None
    }
    spec.exists { of =>
      val provider = of.provider.getOrElse(session.sessionState.conf.defaultDataSourceName)
      DeltaSourceUtils.isDeltaDataSourceName(provider)
    }
  }

  private def existingColumns(replace: ReplaceTableAsSelect): Option[Seq[String]] =
    replace.name match {
      case ResolvedIdentifier(catalog: TableCatalog, identifier) =>
        Try(catalog.loadTable(identifier)).toOption.collect { case table: DeltaTableV2 =>
          val options = new DeltaOptions(replace.writeOptions, session.sessionState.conf)
          ExistingColumns.keptBy(table.initialSnapshot, replace.query.schema, options)
        }.flatten
      case _ => None
    }
}

object KeepClusterBy {

  /** Spark's mark (since 4.1) of `df.write.mode("overwrite").saveAsTable`, which overwrites a table and
    * doesn't replace it.
    */
  private val SavesAsTable = "__v1_save_as_table_overwrite"

  /** Overwrites of whole tables through Spark's V2 plans: INSERT OVERWRITE, `insertInto`, `writeTo`. */
  case class OfOverwrites(session: SparkSession) extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan =
      if (!session.sessionState.conf.getConf(ZCubeConf.Enabled)) plan
      else {
        plan.resolveOperatorsUp {
          case overwrite: OverwriteByExpression
              if overwrite.deleteExpr == Literal.TrueLiteral && overwrite.resolved =>
            keep(overwrite, overwrite.writeOptions)
          case overwrite: DeltaDynamicPartitionOverwriteCommand if overwrite.resolved =>
            // A clustered table has no partitions: all of it is overwritten.
            keep(overwrite, overwrite.deltaTable.options ++ overwrite.writeOptions)
        }
      }

    private def keep(write: V2WriteCommand, writeOptions: Map[String, String]): LogicalPlan =
      write.table match {
        case relation: DataSourceV2Relation if relation.table.isInstanceOf[DeltaTableV2] =>
          val table = relation.table.asInstanceOf[DeltaTableV2]
          val options = new DeltaOptions(writeOptions, session.sessionState.conf)
          val kept = ExistingColumns.keptBy(table.initialSnapshot, write.query.schema, options)
          if (kept.isEmpty || options.isInsertAtomicReplaceOp) write
          else OverwriteClusteredCommand(table, write.query, writeOptions)
        case _ => write
      }
  }
}
