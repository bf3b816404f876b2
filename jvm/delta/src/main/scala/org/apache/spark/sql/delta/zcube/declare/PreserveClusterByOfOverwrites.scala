package org.apache.spark.sql.delta.zcube.declare

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.NamedRelation
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.sql.connector.catalog.{StagedTable, SupportsWrite}
import org.apache.spark.sql.connector.write.{LogicalWriteInfoImpl, SupportsTruncate, V1Write, Write}
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.{DeltaDynamicPartitionOverwriteCommand, DeltaOptions}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.zcube.sql.rules.SwitchableRule

/** Overwrites of whole tables through Spark's V2 plans: INSERT OVERWRITE, `insertInto`,
  * `writeTo`. The plans keep Delta's table; only the write that is finally executed is ZCube's.
  * So this runs after analysis and optimization, just before Spark would ask Delta's table for
  * its write.
  */
case class PreserveClusterByOfOverwrites(session: SparkSession) extends SwitchableRule {
  import PreserveClusterByOfOverwrites._

  override protected def rewrite(plan: LogicalPlan): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(TreePattern.COMMAND)) {
      case overwrite: OverwriteByExpression
          if overwrite.deleteExpr == Literal.TrueLiteral && overwrite.write.isEmpty =>
        overwrite.table match {
          case DeltaRelation(table, itsOptions) =>
            val options = overwrite.writeOptions ++ itsOptions
            if (new DeltaOptions(options, sessionConf).isInsertAtomicReplaceOp)
              overwrite
            else overwrite.copy(write = Some(new ClusteredOverwrite(table, options)))
          case StagedRelation(table, columns) =>
            overwrite.copy(write = Some(staged(table, overwrite, columns)))
          case _ => overwrite
        }
      case overwrite: DeltaDynamicPartitionOverwriteCommand =>
        ClusteredPartitionOverwrite(overwrite)
    }

  /** The same way as Spark asks a table for its write. */
  private def staged(
      table: SupportsWrite,
      overwrite: OverwriteByExpression,
      columns: Seq[String]): Write = {
    val options = new CaseInsensitiveStringMap(overwrite.writeOptions.asJava)
    val info = LogicalWriteInfoImpl(UUID.randomUUID().toString, overwrite.query.schema, options)
    table.newWriteBuilder(info) match {
      case builder: SupportsTruncate =>
        builder.truncate().build() match {
          case write: V1Write => new WithSameColumns.Write(write, columns)
          case other => other
        }
      case builder => builder.build()
    }
  }
}

object PreserveClusterByOfOverwrites {

  /** The table that `saveAsTable` is about to overwrite, with the columns that it must keep. */
  private object StagedRelation {
    def unapply(relation: NamedRelation): Option[(SupportsWrite, Seq[String])] = relation match {
      case relation: DataSourceV2Relation =>
        relation.table match {
          case table: StagedTable with SupportsWrite =>
            table.partitioning().collectFirst { case PreservedClusterBy(columns, _) =>
              (table, columns)
            }
          case _ => None
        }
      case _ => None
    }
  }

  private object DeltaRelation {
    def unapply(relation: NamedRelation): Option[(DeltaTableV2, Map[String, String])] =
      relation match {
        case relation: DataSourceV2Relation =>
          relation.table match {
            case table: DeltaTableV2 =>
              Some((table, relation.options.asCaseSensitiveMap.asScala.toMap))
            case _ => None
          }
        case _ => None
      }
  }
}
