package org.apache.spark.sql.delta.zcube.report

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates

import io.zcube.clustering.run.{RunCounts, RunListener}

/** What the node of OPTIMIZE shows in the SQL tab of Spark's UI, while it runs: cubes planned, committed and
  * dropped, files and bytes before and after.
  */
final class CommandMetrics(context: SparkContext) {
  import CommandMetrics._

  val byName: Map[String, SQLMetric] =
    Counts.map(name => name -> SQLMetrics.createMetric(context, name)).toMap ++
      Sizes.map(name => name -> SQLMetrics.createSizeMetric(context, name))

  /** Updates the metrics of the caller's SQL execution; does nothing outside one. */
  def listener(): RunListener =
    new Listener(Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)).map(_.toLong))

  private class Listener(execution: Option[Long]) extends RunListener.Counting {

    override protected def add(counts: RunCounts): Unit = send(
      Seq(
        Planned -> counts.plannedCubes,
        Committed -> counts.committedCubes,
        Dropped -> counts.droppedCubes,
        FilesRemoved -> counts.filesRemoved,
        FilesAdded -> counts.filesAdded,
        BytesRemoved -> counts.bytesRemoved,
        BytesAdded -> counts.bytesAdded
      ).collect { case (name, Some(count)) => name -> count })

    /** Spark adds up what it receives, so only increments are sent. */
    private def send(values: Seq[(String, Long)]): Unit = {
      values.foreach { case (name, value) => byName(name).add(value) }
      execution.foreach { id =>
        val updates = values.map { case (name, value) => (byName(name).id, value) }
        context.listenerBus.post(SparkListenerDriverAccumUpdates(id, updates))
      }
    }
  }
}

object CommandMetrics {
  private val Planned = "cubes planned"
  private val Committed = "cubes committed"
  private val Dropped = "cubes dropped after concurrent changes"
  private val FilesRemoved = "files removed"
  private val FilesAdded = "files added"
  private val BytesRemoved = "bytes removed"
  private val BytesAdded = "bytes added"

  private val Counts = Seq(Planned, Committed, Dropped, FilesRemoved, FilesAdded)
  private val Sizes = Seq(BytesRemoved, BytesAdded)
}
