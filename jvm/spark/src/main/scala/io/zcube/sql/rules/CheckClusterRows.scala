package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.RowOrdering
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.BooleanType

import io.zcube.layout.Resolution
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.ClusterRows

/** Rejects at analysis what [[ClusterRowsRewrite]] can't lay out. */
object CheckClusterRows extends (LogicalPlan => Unit) {

  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case rows: ClusterRows =>
      if (rows.child.isStreaming) throw ZCubeErrors.streamingNotSupported()
      if (rows.columns.length > Resolution.MaxColumns) {
        throw ZCubeErrors.tooManyColumns(rows.columns.length, Resolution.MaxColumns)
      }
      rows.columns
        .filter(c => c.resolved && !RowOrdering.isOrderable(c.dataType))
        .foreach(c => throw ZCubeErrors.unorderedType(c.sql, c.dataType))
      rows.workload
        .filter(predicate => predicate.resolved && predicate.dataType != BooleanType)
        .foreach { predicate =>
          throw ZCubeErrors.invalidOption("workload", predicate.sql, "a list of conditions")
        }
    case _ =>
  }
}
