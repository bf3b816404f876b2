package io.zcube.sql.metrics

import java.util.{Collections, Map => JavaMap}

import com.codahale.metrics.Gauge
import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, PluginContext, SparkPlugin}

/** Gauges of what OPTIMIZE does, for Spark's metrics system:
  * `spark.plugins=io.zcube.sql.metrics.ZCubePlugin`. Every sink of Spark's shows them, Prometheus' servlet
  * too. The extension works without it.
  *
  * Sums start from 0 with the driver. docs/reference.md lists the gauges.
  *
  * @see Spark's [[https://spark.apache.org/docs/latest/monitoring.html#advanced-instrumentation plugins]]
  * @note Public: jobs that were compiled against a release run with later ones.
  */
final class ZCubePlugin extends SparkPlugin {

  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    override def init(context: SparkContext, plugin: PluginContext): JavaMap[String, String] =
      Collections.emptyMap()

    override def registerMetrics(appId: String, plugin: PluginContext): Unit =
      ZCubePlugin.gauges.foreach { case (name, _, value) =>
        plugin.metricRegistry.register(
          name,
          new Gauge[Number] { override def getValue: Number = value() }): Unit
      }
  }

  /** Null: executors need no metrics of their own. */
  override def executorPlugin(): ExecutorPlugin = null
}

object ZCubePlugin {
  import OptimizeTotals._

  private val gauges: Seq[(String, String, () => Number)] = Seq(
    ("zcube_runs_active", "Runs of OPTIMIZE that have begun and not ended.", () => activeRuns.get),
    ("zcube_cubes_planned", "Cubes that runs planned to write.", () => plannedCubes.sum),
    ("zcube_cubes_committed", "Cubes that were committed.", () => committedCubes.sum),
    ("zcube_cubes_dropped", "Cubes dropped because of concurrent changes.", () => droppedCubes.sum),
    ("zcube_files_removed", "Files that were rewritten.", () => filesRemoved.sum),
    ("zcube_files_added", "Files that were written.", () => filesAdded.sum),
    ("zcube_bytes_removed", "Bytes of the rewritten files.", () => bytesRemoved.sum),
    ("zcube_bytes_added", "Bytes of the written files.", () => bytesAdded.sum),
    (
      "zcube_depth_before",
      "Average depth of the files that the newest measured cube replaced; NaN before there is one.",
      () => depths.get.before),
    (
      "zcube_depth_after",
      "Average depth of that cube's own files; NaN before there is one.",
      () => depths.get.after)
  )

  /** The gauges' names and meanings: docs/reference.md. */
  private[zcube] def described: Seq[(String, String)] = gauges.map { case (name, meaning, _) =>
    name -> meaning
  }
}
