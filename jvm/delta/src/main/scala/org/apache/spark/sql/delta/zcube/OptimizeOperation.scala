package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.execution.metric.SQLMetric

/** Delta's operation OPTIMIZE, with more metrics in the table's history than Delta lets through, some of
  * them no whole numbers.
  */
final class OptimizeOperation(task: ClusteringTask, groups: Seq[RewrittenGroup])
    extends DeltaOperations.Optimize(
      predicate = task.where.written,
      zOrderBy = if (task.clustered) Nil else task.columns.map(_.name),
      auto = task.isAuto,
      clusterBy = Option.when(task.clustered)(task.columns.map(_.name)),
      isFull = task.isFull
    ) {

  override def transformMetrics(metrics: Map[String, SQLMetric]): Map[String, String] =
    super.transformMetrics(metrics) ++ CommitMetrics.more(groups)
}
