package org.apache.spark.sql.delta.zcube.commands

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.delta.zcube.format.DeltaVersion
import org.apache.spark.sql.delta.zcube.table.{DeltaTableCommand, SnapshotState}
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{Row, SparkSession, classic}

import io.zcube.clustering.report.DescribeClusteringReport
import io.zcube.sql.plans.DescribeClustering

/** `DESCRIBE CLUSTERING (path | t) [BY (a, b)] [WHERE predicate]`: how well the files are clustered
  * by the columns, with one row for each and one, `*`, for all together. It reads the log, never
  * the data.
  *
  * Without BY the columns are the table's clustering columns, or those of the last ZORDER BY whose
  * tags are on a file. WHERE accepts the same predicates as OPTIMIZE.
  */
case class DescribeClusteringCommand(
    override val child: LogicalPlan,
    by: Seq[Seq[String]],
    where: Seq[String])
    extends RunnableCommand
    with UnaryNode
    with DeltaTableCommand {

  override val output: Seq[Attribute] = toAttributes(DescribeClusteringReport.schema)

  override protected def withNewChildInternal(newChild: LogicalPlan): DescribeClusteringCommand =
    copy(child = newChild)

  override def run(sparkSession: SparkSession): Seq[Row] = {
    val table = getDeltaTable(child, DescribeClustering.Statement)
    // The newest version, or the one in a path such as /data/events@v3.
    val snapshot = table.initialSnapshot
    requireTable(snapshot)
    val session = sparkSession.asInstanceOf[classic.SparkSession]
    SnapshotState.build(session, snapshot)
    val version = DeltaVersion.of(table.deltaLog, table.catalogTable, snapshot)
    Sessions.within(session)(
      DescribeClusteringReport.of(
        version,
        by,
        session.sessionState.conf.resolver,
        filePredicates(session, snapshot, version.clusteringColumns, where)))
  }
}
