package org.apache.spark.sql.delta.zcube.run

import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.delta.zcube.plan.OptimizeTask
import org.apache.spark.sql.execution.metric.SQLMetric

/** Delta's operation OPTIMIZE, with more metrics in the table's history than Delta lets through, and with
  * more parameters: what is no whole number is text there.
  */
final class OptimizeOperation(delta: DeltaOperations.Optimize, groups: Seq[RewriteResult])
    extends DeltaOperations.Optimize(
      delta.predicate,
      delta.zOrderBy,
      delta.auto,
      delta.clusterBy,
      delta.isFull) {

  override val parameters: Map[String, Any] = delta.parameters ++ CommitMetrics.parameters(groups)

  override def transformMetrics(metrics: Map[String, SQLMetric]): Map[String, String] =
    super.transformMetrics(metrics) ++ CommitMetrics.ours(groups)
}

object OptimizeOperation {

  def of(task: OptimizeTask, groups: Seq[RewriteResult]): OptimizeOperation = {
    val delta = DeltaOperations.Optimize(
      predicate = task.where.written,
      zOrderBy = if (task.clustered) Nil else task.columns.map(_.name),
      auto = task.isAuto,
      clusterBy = Option.when(task.clustered)(task.columns.map(_.name)),
      isFull = task.isFull
    )
    new OptimizeOperation(delta, groups)
  }
}
