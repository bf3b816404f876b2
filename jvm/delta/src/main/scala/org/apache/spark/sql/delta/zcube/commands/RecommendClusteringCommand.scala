package org.apache.spark.sql.delta.zcube.commands

import scala.util.Using

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.{SparkSession => ClassicSession}
import org.apache.spark.sql.delta.DeltaTableUtils
import org.apache.spark.sql.delta.commands.DeltaOptimizeContext
import org.apache.spark.sql.delta.zcube.format.{DeltaSettings, DeltaVersion}
import org.apache.spark.sql.delta.zcube.table.{DeltaTableCommand, SnapshotState}
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{Row, SparkSession}

import io.zcube.clustering.advise.{Advisor, QueryAnalyzer, RecommendationReport}
import io.zcube.clustering.plan.OptimizeOptions
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.RecommendClustering

/** `RECOMMEND CLUSTERING (path | t) FOR 'query' [WEIGHT n], …`: recommends columns and curves for
  * these queries, the best first. It doesn't run the queries, reads the columns that they filter by
  * in one pass, and writes nothing.
  */
case class RecommendClusteringCommand(
    override val child: LogicalPlan,
    queries: Seq[(String, Double)])
    extends RunnableCommand
    with UnaryNode
    with DeltaTableCommand {

  override val output: Seq[Attribute] = toAttributes(RecommendationReport.schema)

  override protected def withNewChildInternal(newChild: LogicalPlan): RecommendClusteringCommand =
    copy(child = newChild)

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val table = getDeltaTable(child, RecommendClustering.Statement)
    // Delta ignores the version in a path such as /data/events@v3 here, and the queries name no version.
    val path = table.path.toString
    def named =
      DeltaTableUtils.extractIfPathContainsTimeTravel(sparkSession, path, table.options)._2
    if (table.catalogTable.isEmpty && named.isDefined) {
      throw ZCubeErrors.recommendNeedsNewest(path)
    }
    val snapshot = table.update()
    requireTable(snapshot)
    val session = sparkSession.asInstanceOf[ClassicSession]
    SnapshotState.build(session, snapshot)
    val version = DeltaVersion.of(table.deltaLog, table.catalogTable, snapshot)
    val analyzed = Using.resource(new QueryAnalyzer(session, version)) { reader =>
      queries.map { case (text, weight) => reader.read(text, weight) }
    }
    if (analyzed.forall(_.scans.isEmpty)) {
      throw ZCubeErrors.recommendNothingUnderstood(
        version.table.name,
        analyzed.flatMap(_.notes).distinct)
    }
    val settings = DeltaSettings.of(session.sessionState.conf, DeltaOptimizeContext())
    OptimizeOptions.checkFileSize(settings.plan)
    Sessions.within(session)(new Advisor(session, version, settings, analyzed).rows)
  }
}
