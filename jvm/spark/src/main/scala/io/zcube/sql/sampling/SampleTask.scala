package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.DataType

/** What each task of the sampling job does: it sends the rows with the smallest hashes, and the sizes
  * of those that are next. From sizes, which take hardly any space, the driver learns which rows are
  * in the sample, even if some tasks can't send all of theirs at first.
  *
  * @param isApart   whether rows are sampled by the hash that tells all apart
  * @param threshold only rows below this hash are wanted
  * @param limits   limits of the whole sample
  * @param maxRows  maximum number of rows that a task sends
  * @param maxBytes maximum bytes of the rows that each task sends
  * @param maxSizes maximum number of rows whose sizes each task knows, including those that it sends
  */
final private[sql] case class SampleTask(
    dataTypes: Seq[DataType],
    identity: RowIdentity,
    isApart: Boolean,
    threshold: Long,
    limits: SampleLimits,
    maxRows: Int,
    maxBytes: Array[Long],
    maxSizes: Array[Int]) {

  /** Whether a task may send as many rows as the driver keeps. */
  def sendsAll(partition: Int): Boolean =
    maxRows >= limits.rows && maxBytes(partition) >= limits.bytes

  /** Whether a task may send as many sizes as the driver keeps. */
  def sendsAllSizes(partition: Int): Boolean = maxSizes(partition) >= limits.rows
}

private[sql] object SampleTask {

  /** Draws a task's part of several samples of the same rows, which identify rows in the same way. */
  def run(samples: Seq[SampleTask], partition: Int, rows: Iterator[InternalRow]): Array[Result] = {
    val hasher = samples.head.identity.hasher(partition)
    val draws = samples.map(new Draw(_, partition)).toArray
    while (rows.hasNext) {
      val row = rows.next()
      hasher.next(row)
      var i = 0
      while (i < draws.length) {
        draws(i).add(row, hasher)
        i += 1
      }
    }
    draws.map(_.result)
  }

  /** One task's part of the sample. */
  final private class Draw(sample: SampleTask, partition: Int) {
    import sample._

    private val kept = new SampleReservoir(SampleLimits(maxRows, maxBytes(partition)), threshold)
    private val measured = new SampleReservoir(
      if (sendsAllSizes(partition)) limits else SampleLimits(maxSizes(partition), Long.MaxValue),
      threshold)
    private val project = UnsafeProjection.create(
      dataTypes.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) })
    private var count, seen, cost = 0L

    /** @param hasher has gone on to the row */
    def add(row: InternalRow, hasher: RowHasher): Unit = {
      count += 1
      val hash = if (isApart) hasher.apart else hasher.hash
      if (measured.accepts(hash) || kept.accepts(hash)) {
        val projected = project(row)
        seen += 1
        cost += projected.getSizeInBytes + SampleLimits.RowOverhead
        measured.addSize(hash, projected.getSizeInBytes)
        // The projection reuses its row, and getBytes may return the buffer itself.
        if (kept.accepts(hash)) kept.add(hash, projected.copy().getBytes)
      }
    }

    def result: Result = {
      val meanCost = if (seen == 0) 0.0 else cost.toDouble / seen
      pack(count, meanCost, kept, measured)
    }
  }

  /** @param rowCount  rows seen
    * @param meanCost  average bytes needed to keep one of them; 0 if none was measured
    * @param rowsBelow  every row of the task below this hash is in the result
    * @param sizesBelow the size of every row of the task below this hash is in the result
    * @param hashes     of the rows, then of those of which only the size is known
    * @param packed     the concatenated bytes of the rows
    */
  final class Result(
      val rowCount: Long,
      val meanCost: Double,
      val rowsBelow: Long,
      val sizesBelow: Long,
      rowsSent: Int,
      hashes: Array[Long],
      lengths: Array[Int],
      packed: Array[Byte])
      extends Serializable {

    def addTo(reservoir: SampleReservoir): Unit = {
      var offset = 0
      var i = 0
      while (i < hashes.length) {
        if (i >= rowsSent) reservoir.addSize(hashes(i), lengths(i))
        else {
          val end = offset + lengths(i)
          reservoir.add(hashes(i), java.util.Arrays.copyOfRange(packed, offset, end))
          offset = end
        }
        i += 1
      }
    }
  }

  private def pack(
      rowCount: Long,
      meanCost: Double,
      kept: SampleReservoir,
      measured: SampleReservoir): Result = {
    val rows = kept.result()
    val sizes = measured.sizesFrom(kept.threshold)
    val packed = new Array[Byte](rows.map(_._2.length).sum)
    var offset = 0
    rows.foreach { case (_, bytes) =>
      System.arraycopy(bytes, 0, packed, offset, bytes.length)
      offset += bytes.length
    }
    new Result(
      rowCount,
      meanCost,
      kept.threshold,
      math.max(kept.threshold, measured.threshold),
      rows.length,
      rows.map(_._1) ++ sizes.map(_._1),
      rows.map(_._2.length) ++ sizes.map(_._2),
      packed
    )
  }
}
