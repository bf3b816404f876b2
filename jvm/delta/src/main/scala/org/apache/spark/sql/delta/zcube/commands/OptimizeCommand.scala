package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.delta.commands.{OptimizeTableCommand, OptimizeTableCommandBase}
import org.apache.spark.sql.delta.skipping.clustering.ClusteredTableUtils
import org.apache.spark.sql.delta.zcube.format.{DeltaSettings, DeltaVersion, LastVersion}
import org.apache.spark.sql.delta.zcube.report.{CommandMetrics, OptimizeReport}
import org.apache.spark.sql.delta.zcube.table.{CatalogManaged, DeltaTableCommand, SnapshotState, TableColumns}
import org.apache.spark.sql.delta.{DeltaErrors, Snapshot}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{Row, SparkSession, classic}

import io.zcube.clustering.plan.{OptimizeOptions, OptimizeTask, SecondPass}
import io.zcube.clustering.report.{DryRunReport, Forecast, WorkloadReport}
import io.zcube.clustering.run.{LayoutSession, OptimizePasses}
import io.zcube.clustering.table.ColumnPath
import io.zcube.sql.conf.ZCubeConf
import io.zcube.sql.errors.ZCubeErrors

/** `OPTIMIZE t [FULL] [WHERE …] [ZORDER BY (…)] [OPTIONS (…)]`: the same errors, output and history
  * as Delta's command, but a different implementation. Delta's base class provides the output
  * columns and the check of the Z-order columns, so that they can't diverge. Plain compaction,
  * without columns to cluster by, is left to Delta's command.
  *
  * @param delta   Delta's command, resolved
  * @param options as the user wrote them
  * @param dryRun  whether to show the plan only
  */
case class OptimizeCommand(
    override val child: LogicalPlan,
    delta: OptimizeTableCommand,
    options: Seq[(String, String)],
    dryRun: Boolean = false)
    extends OptimizeTableCommandBase
    with UnaryNode
    with DeltaTableCommand {

  override val output: Seq[Attribute] =
    if (dryRun) DryRunReport.output
    else {
      val details = AttributeReference("details", StringType)()
      delta.output ++ Option.when(OptimizeOptions.wantsDetails(options))(details)
    }

  @transient private lazy val shown = new CommandMetrics(SparkSession.active.sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = if (dryRun) Map.empty else shown.byName

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeCommand =
    copy(child = newChild)

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val table = getDeltaTable(child, "OPTIMIZE")
    val snapshot = table.update()
    requireTable(snapshot)
    CatalogManaged.check(sparkSession, snapshot, delta)
    val session = sparkSession.asInstanceOf[classic.SparkSession]
    val clustered = ClusteredTableUtils.isSupported(snapshot.protocol)
    if (clustered && delta.zOrderBy.nonEmpty) {
      throw DeltaErrors.clusteringWithZOrderByException(delta.zOrderBy)
    }
    SnapshotState.build(session, snapshot)
    val declared =
      if (clustered) TableColumns.clusteringColumns(session, snapshot) else Nil
    // Checks the predicates before the columns, as Delta does.
    val where =
      filePredicates(session, snapshot, declared, delta.userPartitionPredicates)
    val columns = if (clustered) declared else zOrderColumns(session, snapshot)
    if (columns.isEmpty)
      compact(session, DeltaTableCommand.nameOf(table.catalogTable, snapshot.deltaLog.dataPath))
    else {
      val conf = session.sessionState.conf
      val version = DeltaVersion.of(table.deltaLog, table.catalogTable, snapshot)
      val task = OptimizeTask.of(
        session,
        version,
        where,
        columns,
        clustered,
        delta.optimizeContext.isFull,
        OptimizeOptions.of(options, ZCubeConf.curve(conf)),
        DeltaSettings.of(conf, delta.optimizeContext)
      )
      if (dryRun) {
        val planned = Sessions.within(session)(SecondPass.planOf(task))
        LayoutSession.using(session, version)(reading =>
          DryRunReport.rows(planned, Forecast.of(reading, task, planned, task.options.forecast)))
      } else if (task.options.forecast) throw ZCubeErrors.forecastNotTaken()
      else {
        LayoutSession.using(session, version)(clone =>
          Seq(LastVersion.within(session, clone)(optimize(clone, snapshot, task))))
      }
    }
  }

  private def optimize(
      session: classic.SparkSession,
      snapshot: Snapshot,
      task: OptimizeTask): Row = {
    val workload = Sessions.within(session)(WorkloadReport.of(task))
    val result = new OptimizePasses(session, task, Seq(shown.listener())).run()
    Sessions.within(session)(OptimizeReport.row(session, snapshot, task, result, workload))
  }

  private def compact(session: SparkSession, table: String): Seq[Row] = {
    if (dryRun) throw ZCubeErrors.dryRunNotSupported(Some(table))
    if (options.exists(!_._1.equalsIgnoreCase("details")))
      throw ZCubeErrors.optionsNotSupported(Some(table))
    delta.run(session).map(row =>
      if (output.size > row.size) Row.fromSeq(row.toSeq :+ null) else row)
  }

  private def zOrderColumns(
      session: classic.SparkSession,
      snapshot: Snapshot): Seq[ColumnPath] = {
    validateZorderByColumns(session, snapshot, delta.zOrderBy)
    delta.zOrderBy.map { column =>
      TableColumns
        .find(snapshot.schema, column.nameParts, session.sessionState.conf.resolver)
        .getOrElse(throw DeltaErrors.zOrderingColumnDoesNotExistException(column.name))
    }
  }
}
