package io.zcube.sql.metrics

import java.util.{Collections, Map => JavaMap}

import com.codahale.metrics.Gauge
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}

/** Gauges of what OPTIMIZE does, for Spark's metrics system:
  * `spark.plugins=io.zcube.sql.metrics.ZCubePlugin`. Every sink of Spark's shows them, Prometheus' servlet
  * too. The extension works without it.
  *
  * Each starts from 0 with the driver: `zcube_runs_active`, `zcube_cubes_planned`,
  * `zcube_cubes_committed`, `zcube_cubes_dropped` (by concurrent changes), `zcube_files_removed`,
  * `zcube_files_added`, `zcube_bytes_removed`, `zcube_bytes_added`; `zcube_depth_before` and
  * `zcube_depth_after` are of the newest cube that was measured, NaN before there is one.
  *
  * @see Spark's [[https://spark.apache.org/docs/latest/monitoring.html#advanced-instrumentation plugins]]
  * @note Public: jobs that were compiled against a release run with later ones.
  */
final class ZCubePlugin extends SparkPlugin {

  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    override def init(context: SparkContext, plugin: PluginContext): JavaMap[String, String] =
      Collections.emptyMap()

    override def registerMetrics(appId: String, plugin: PluginContext): Unit =
      ZCubePlugin.gauges.foreach { case (name, value) =>
        plugin.metricRegistry.register(
          name,
          new Gauge[Number] { override def getValue: Number = value() }): Unit
      }
  }

  /** Executors have nothing to tell that Spark's own metrics don't. */
  override def executorPlugin(): ExecutorPlugin = null
}

object ZCubePlugin {
  import OptimizeTotals._

  private val gauges: Seq[(String, () => Number)] = Seq(
    "zcube_runs_active" -> (() => activeRuns.get),
    "zcube_cubes_planned" -> (() => plannedCubes.sum),
    "zcube_cubes_committed" -> (() => committedCubes.sum),
    "zcube_cubes_dropped" -> (() => droppedCubes.sum),
    "zcube_files_removed" -> (() => filesRemoved.sum),
    "zcube_files_added" -> (() => filesAdded.sum),
    "zcube_bytes_removed" -> (() => bytesRemoved.sum),
    "zcube_bytes_added" -> (() => bytesAdded.sum),
    "zcube_depth_before" -> (() => depths.get.before),
    "zcube_depth_after" -> (() => depths.get.after)
  )
}
