package io.zcube.sql.sampling

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/** The results of one sampling job.
  *
  * @param knownBelow every row below this hash has arrived at the driver
  * @param counts     number of rows that each task saw
  * @param meanCosts  average bytes needed to keep a row of each task
  */
final private[sql] class SamplingRound private (
    reservoir: SampleReservoir,
    val knownBelow: Long,
    counts: Array[Long],
    meanCosts: Array[Double]) {

  val rowCount: Long = counts.sum

  private val costs = Array.tabulate(counts.length)(i => counts(i) * meanCosts(i))

  /** Whether more rows arrived than fit: then the kept rows are the sample. */
  def isFull: Boolean = reservoir.threshold <= knownBelow

  /** The number of rows that fit into the limits, if they are as large as those seen. */
  def rowsThatFit(limits: SampleLimits): Double =
    math.min(limits.rows.toDouble, limits.bytes * rowCount / math.max(1.0, costs.sum))

  /** Divides these bytes among the tasks: half in proportion to their rows, half evenly. */
  def shares(bytes: Long): Array[Long] = {
    val all = math.max(1.0, costs.sum)
    costs.map(cost => ((cost / all + 1.0 / costs.length) / 2 * bytes).toLong)
  }

  /** The sampled rows, by ascending hash. */
  def rows: Array[Array[Byte]] = {
    reservoir.lowerTo(knownBelow)
    reservoir.result().map(_._2)
  }
}

private[sql] object SamplingRound {

  def run(rdd: RDD[InternalRow], task: SampleTask, limits: SampleLimits): SamplingRound = {
    val tasks = rdd.getNumPartitions
    val merged = new SampleReservoir(limits, Long.MaxValue)
    val counts = new Array[Long](tasks)
    val meanCosts = new Array[Double](tasks)
    var known = task.threshold
    if (tasks > 0) {
      rdd.sparkContext.runJob[InternalRow, SampleTask.Result](
        rdd,
        (context: TaskContext, rows: Iterator[InternalRow]) =>
          task.run(context.partitionId(), rows),
        0 until tasks,
        // The scheduler calls this for one task at a time, so no lock is needed.
        (partition: Int, result: SampleTask.Result) => {
          counts(partition) = result.rowCount
          meanCosts(partition) = result.meanCost
          known = math.min(known, result.threshold)
          result.foreach(merged.add)
          // If a task with the driver's limits can't keep a row, the driver can't either.
          val asMuch =
            task.maxRows >= limits.rows && task.maxBytes(partition) >= limits.bytes
          if (asMuch && result.threshold < task.threshold) merged.lowerTo(result.threshold)
        }
      )
    }
    new SamplingRound(merged, known, counts, meanCosts)
  }
}
