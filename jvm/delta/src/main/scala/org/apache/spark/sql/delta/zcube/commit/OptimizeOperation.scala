package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.execution.metric.SQLMetric

import io.zcube.clustering.table.{CommitSummary, WhereClause}

/** Delta's operation OPTIMIZE, with more metrics in the table's history than Delta allows, and with
  * more parameters, which hold everything that isn't an integer, as strings.
  */
final class OptimizeOperation(delta: DeltaOperations.Optimize, summary: CommitSummary)
    extends DeltaOperations.Optimize(
      delta.predicate,
      delta.zOrderBy,
      delta.auto,
      delta.clusterBy,
      delta.isFull) {

  override val parameters: Map[String, Any] = delta.parameters ++ summary.parameters

  override def transformMetrics(metrics: Map[String, SQLMetric]): Map[String, String] =
    super.transformMetrics(metrics) ++ summary.metrics
}

object OptimizeOperation {

  def of(where: WhereClause, summary: CommitSummary): OptimizeOperation = {
    val columns = summary.layout.columns.map(_.name)
    val delta = DeltaOperations.Optimize(
      predicate = where.written,
      zOrderBy = if (summary.layout.declared) Nil else columns,
      auto = summary.isAuto,
      clusterBy = Option.when(summary.layout.declared)(columns),
      isFull = summary.isFull
    )
    new OptimizeOperation(delta, summary)
  }
}
