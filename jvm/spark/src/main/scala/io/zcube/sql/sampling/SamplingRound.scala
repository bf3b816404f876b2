package io.zcube.sql.sampling

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/** What one sampling job found for a sample.
  *
  * @param sentBelow  every row below this hash has arrived at the driver
  * @param knownBelow the size of every row below this hash has arrived at the driver
  * @param sizesBelow the same for the rows of each task
  * @param counts     number of rows that each task saw
  * @param meanCosts  average bytes needed to keep a row of each task
  */
final private[sql] class SamplingRound private (
    reservoir: SampleReservoir,
    sentBelow: Long,
    knownBelow: Long,
    sizesBelow: Array[Long],
    counts: Array[Long],
    meanCosts: Array[Double]) {

  val rowCount: Long = counts.sum

  private val costs = Array.tabulate(counts.length)(i => counts(i) * meanCosts(i))

  /** The known part of the sample: all rows below this hash. */
  def sampleBelow: Long = math.min(reservoir.threshold, knownBelow)

  /** Whether that is the sample: more rows are known than fit, or no more were wanted.
    *
    * @param ceiling no rows at or above this hash are wanted
    */
  def isDecided(ceiling: Long): Boolean =
    reservoir.threshold <= knownBelow || knownBelow >= ceiling

  /** Whether all rows of the sample have arrived. */
  def hasRows: Boolean = sampleBelow <= sentBelow

  /** Whether another round may know more than this one, whose task is `last`. */
  def mayGrow(last: SampleTask, next: SampleTask): Boolean =
    if (knownBelow >= last.threshold) next.threshold > last.threshold
    else
      // The task that sends least decides, so each of these needs more room.
      sizesBelow.indices.filter(sizesBelow(_) == knownBelow).forall { task =>
        next.maxSizes(task) > last.maxSizes(task) || next.maxBytes(task) > last.maxBytes(task)
      }

  /** The number of rows that fit into the limits, if they are as large as those seen. */
  def rowsThatFit(limits: SampleLimits): Double =
    math.min(limits.rows.toDouble, limits.bytes.toDouble * rowCount / math.max(1.0, costs.sum))

  /** The number of rows that should be below a hash. */
  def expectedBelow(hash: Long): Double = hash.toDouble / Long.MaxValue.toDouble * rowCount

  /** The number of rows that should be known of those that fit. */
  def rowsKnownOf(limits: SampleLimits): Double =
    math.min(rowsThatFit(limits), expectedBelow(knownBelow))

  /** The hashes of the known part of the sample, ascending. */
  def hashes: Array[Long] = reservoir.sizesFrom(0).map(_._1).takeWhile(_ < sampleBelow)

  /** Divides these bytes among the tasks: half in proportion to their rows, half evenly. */
  def shareBytes(bytes: Long): Array[Long] = {
    val all = math.max(1.0, costs.sum)
    costs.map(cost => ((cost / all + 1.0 / costs.length) / 2 * bytes).toLong)
  }

  /** Divides this number of sizes among the tasks, in proportion to what each should at most have
    * below a hash: six standard deviations more than expected.
    */
  def shareSizes(sizes: Long, hash: Long): Array[Double] = {
    val wanted = counts.map { count =>
      val mean = hash.toDouble / Long.MaxValue.toDouble * count
      mean + 6 * math.sqrt(mean) + 24
    }
    val all = wanted.sum
    wanted.map(_ / all * sizes)
  }

  /** The sampled rows and their hashes, by ascending hash. */
  def rows: Array[(Long, Array[Byte])] = {
    reservoir.lowerTo(math.min(knownBelow, sentBelow))
    reservoir.result()
  }
}

private[sql] object SamplingRound {

  /** Draws several samples in one job. */
  def run(rdd: RDD[InternalRow], samples: Seq[SampleTask]): Seq[SamplingRound] = {
    val tasks = rdd.getNumPartitions
    val merges = samples.map(new Merge(_, tasks))
    if (tasks > 0) {
      rdd.sparkContext.runJob[InternalRow, Array[SampleTask.Result]](
        rdd,
        (context: TaskContext, rows: Iterator[InternalRow]) =>
          SampleTask.run(samples, context.partitionId(), rows),
        0 until tasks,
        // The scheduler calls this for one task at a time, so no lock is needed.
        (partition: Int, results: Array[SampleTask.Result]) =>
          merges.zip(results).foreach { case (merge, result) => merge.add(partition, result) }
      )
    }
    merges.map(_.round)
  }

  /** Merges the tasks' results of one sample. */
  final private class Merge(task: SampleTask, tasks: Int) {

    private val merged = new SampleReservoir(task.limits, Long.MaxValue)
    private val counts = new Array[Long](tasks)
    private val meanCosts = new Array[Double](tasks)
    private var sentBelow, knownBelow = task.threshold
    private val sizesBelow = new Array[Long](tasks)

    def add(partition: Int, result: SampleTask.Result): Unit = {
      counts(partition) = result.rowCount
      meanCosts(partition) = result.meanCost
      sentBelow = math.min(sentBelow, result.rowsBelow)
      sizesBelow(partition) = result.sizesBelow
      knownBelow = math.min(knownBelow, result.sizesBelow)
      result.addTo(merged)
      // If a task with the driver's limits can't keep a row, the driver can't either.
      if (task.sendsAll(partition) && result.rowsBelow < task.threshold)
        merged.lowerTo(result.rowsBelow)
      if (task.sendsAllSizes(partition) && result.sizesBelow < task.threshold)
        merged.lowerTo(result.sizesBelow)
    }

    def round: SamplingRound =
      new SamplingRound(merged, sentBelow, knownBelow, sizesBelow, counts, meanCosts)
  }
}
