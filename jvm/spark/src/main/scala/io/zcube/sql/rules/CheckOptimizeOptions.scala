package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.plans.OptimizeWithOptions

/** Options that nobody took over must not be ignored. */
object CheckOptimizeOptions extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case _: OptimizeWithOptions => throw ZCubeErrors.optionsNotSupported()
    case _ =>
  }
}
