package io.zcube.sql.layout

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}
import org.apache.spark.sql.types.DataType

/** Draws a uniform sample of a plan's rows with one Spark job.
  *
  * Whether a row is sampled is decided by a hash of the row's place ([[RowIdentity]]), never by
  * chance, so the same data gives the same sample. Each task keeps a bounded number of rows
  * ([[SampleReservoir]]) and the driver merges the tasks' results as they come in, so that neither
  * ever holds more than the limits, however large the table.
  */
object RowSampler {

  /** A task sends at least this many rows, so that tasks of uneven size don't starve the sample. */
  private val LeastRowsOfTask = 4096

  /** Tasks together send this many times the rows wanted where the number of rows is unknown. */
  private val Oversampling = 4.0

  /** Samples a plan whose output is exactly the sampled columns. */
  def sample(
      session: SparkSession,
      plan: LogicalPlan,
      limits: SampleLimits,
      description: String): RowSample =
    sample(session, plan, plan.output.length, RowIdentity.PartitionPlace, None, limits, description)

  /** @param plan         its first `columns` output columns are sampled, others serve `identity`
    * @param expectedRows about how many rows there are, if known: tasks then drop most rows at once,
    *                     and the sample doesn't depend on how rows are divided among tasks
    * @param description  of the job, for the Spark UI
    */
  def sample(
      session: SparkSession,
      plan: LogicalPlan,
      columns: Int,
      identity: RowIdentity,
      expectedRows: Option[Long],
      limits: SampleLimits,
      description: String): RowSample = {
    val dataTypes = plan.output.take(columns).map(_.dataType)
    val query = new QueryExecution(session, plan)
    JobDescription.within(session.sparkContext, description) {
      SQLExecution.withNewExecutionId(query, Some(description)) {
        run(query.toRdd, dataTypes, identity, expectedRows, limits)
      }
    }
  }

  private def run(
      rdd: RDD[InternalRow],
      dataTypes: Seq[DataType],
      identity: RowIdentity,
      expectedRows: Option[Long],
      limits: SampleLimits): RowSample = {
    val tasks = rdd.getNumPartitions
    val threshold = expectedRows.fold(Long.MaxValue)(initialThreshold(_, limits.rows))
    val taskLimits =
      if (expectedRows.isDefined) {
        limits
      } else {
        val share = (limits.rows * Oversampling / math.max(1, tasks)).toInt
        limits.copy(rows = math.min(limits.rows, math.max(LeastRowsOfTask, share)))
      }
    val merged = new SampleReservoir(limits, Long.MaxValue)
    var rowCount = 0L
    val task = new SampleTask(dataTypes, identity, threshold, taskLimits)
    if (tasks > 0) {
      rdd.sparkContext.runJob[InternalRow, SampleTask.Result](
        rdd,
        (context: org.apache.spark.TaskContext, rows: Iterator[InternalRow]) =>
          task.run(context.partitionId(), rows),
        0 until tasks,
        // The scheduler calls this for one task at a time.
        (_: Int, result: SampleTask.Result) => {
          rowCount += result.rowCount
          merged.lowerTo(result.threshold)
          result.foreach(merged.add)
        }
      )
    }
    val rows = merged.result().map { case (_, bytes) =>
      val row = new UnsafeRow(dataTypes.length)
      row.pointTo(bytes, bytes.length)
      row: InternalRow
    }
    RowSample(dataTypes, rows, rowCount, rows.length.toLong == rowCount)
  }

  /** The hash below which some 1.25 times the rows wanted are expected. */
  private def initialThreshold(expectedRows: Long, wanted: Int): Long = {
    // Half as much again, and some for small numbers, so that falling short is out of the question.
    val fraction = (wanted * 1.25 + 1000) / math.max(1L, expectedRows)
    if (fraction >= 1.0) Long.MaxValue else (fraction * Long.MaxValue.toDouble).toLong
  }
}
