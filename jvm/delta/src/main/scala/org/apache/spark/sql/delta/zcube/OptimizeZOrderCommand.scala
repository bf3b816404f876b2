package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.delta.commands.{DeltaOptimizeContext, OptimizeTableCommandBase}
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}
import org.apache.spark.sql.{Row, SparkSession, classic}

/** `OPTIMIZE t [WHERE …] ZORDER BY (…) [OPTIONS (…)]`: the same refusals, output and history as
  * Delta's command, other work. Delta's base class brings the output columns and the check of the
  * Z-order columns, so that they can't drift apart.
  */
case class OptimizeZOrderCommand(
    override val child: LogicalPlan,
    userPartitionPredicates: Seq[String],
    optimizeContext: DeltaOptimizeContext,
    options: Seq[(String, String)])(val zOrderBy: Seq[UnresolvedAttribute])
    extends OptimizeTableCommandBase
    with UnaryNode {

  override val otherCopyArgs: Seq[AnyRef] = zOrderBy :: Nil

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeZOrderCommand =
    copy(child = newChild)(zOrderBy)

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val table = getDeltaTable(child, "OPTIMIZE")
    val snapshot = table.update()
    if (snapshot.version == -1) {
      throw DeltaErrors.notADeltaTableException(table.deltaLog.dataPath.toString)
    }
    refuseWhatDeltaRefuses(snapshot)
    val predicates = partitionPredicates(sparkSession, snapshot)
    validateZorderByColumns(sparkSession, snapshot, zOrderBy)

    val conf = sparkSession.sessionState.conf
    val task = ZOrderTask(
      snapshot,
      table.catalogTable,
      predicates,
      zOrderBy,
      OptimizeOptions.of(options, conf),
      OptimizeSettings.of(conf, optimizeContext))
    val session = LayoutSession.cloneOf(sparkSession.asInstanceOf[classic.SparkSession], snapshot)
    Seq(new ZOrderRun(session, task).run())
  }

  private def refuseWhatDeltaRefuses(snapshot: Snapshot): Unit = {
    if (snapshot.isCatalogOwned) throw DeltaErrors.operationBlockedOnCatalogManagedTable("OPTIMIZE")
    if (ClusteredTableUtils.isSupported(snapshot.protocol)) {
      if (userPartitionPredicates.nonEmpty) {
        throw DeltaErrors.clusteringWithPartitionPredicatesException(userPartitionPredicates)
      }
      throw DeltaErrors.clusteringWithZOrderByException(zOrderBy)
    }
    if (optimizeContext.isFull) throw DeltaErrors.optimizeFullNotSupportedException()
  }

  private def partitionPredicates(session: SparkSession, snapshot: Snapshot): Seq[Expression] =
    userPartitionPredicates.flatMap { text =>
      val predicates = parsePredicates(session, text)
      verifyPartitionPredicates(session, snapshot.metadata.partitionColumns, predicates)
      predicates
    }
}
