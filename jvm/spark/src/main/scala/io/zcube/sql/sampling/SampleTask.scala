package io.zcube.sql.sampling

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.DataType

/** What each task of the sampling job does.
  *
  * @param threshold only rows below this hash are wanted
  * @param maxRows  maximum number of rows that a task sends
  * @param maxBytes maximum number of bytes that each task sends
  */
final private[sql] case class SampleTask(
    dataTypes: Seq[DataType],
    identity: RowIdentity,
    threshold: Long,
    maxRows: Int,
    maxBytes: Array[Long]) {

  def run(partition: Int, rows: Iterator[InternalRow]): SampleTask.Result = {
    val hashOf = identity.hasher(partition)
    val reservoir = new SampleReservoir(SampleLimits(maxRows, maxBytes(partition)), threshold)
    val project = UnsafeProjection.create(
      dataTypes.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) })
    var count, seen, cost = 0L
    while (rows.hasNext) {
      val row = rows.next()
      count += 1
      val hash = hashOf(row)
      if (reservoir.accepts(hash)) {
        // The projection reuses its row, and getBytes may return the buffer itself.
        val bytes = project(row).copy().getBytes
        seen += 1
        cost += bytes.length + SampleLimits.RowOverhead
        reservoir.add(hash, bytes)
      }
    }
    val meanCost = if (seen == 0) 0.0 else cost.toDouble / seen
    SampleTask.pack(count, meanCost, reservoir.threshold, reservoir.result())
  }
}

private[sql] object SampleTask {

  /** @param rowCount  rows seen
    * @param meanCost  average bytes needed to keep one of them; 0 if none was measured
    * @param threshold every row of the task below this hash is in the result
    * @param packed    the concatenated bytes of the rows
    */
  final class Result(
      val rowCount: Long,
      val meanCost: Double,
      val threshold: Long,
      hashes: Array[Long],
      lengths: Array[Int],
      packed: Array[Byte])
      extends Serializable {

    def foreach(receive: (Long, Array[Byte]) => Unit): Unit = {
      var offset = 0
      var i = 0
      while (i < hashes.length) {
        receive(hashes(i), java.util.Arrays.copyOfRange(packed, offset, offset + lengths(i)))
        offset += lengths(i)
        i += 1
      }
    }
  }

  private def pack(
      rowCount: Long,
      meanCost: Double,
      threshold: Long,
      rows: Array[(Long, Array[Byte])]): Result = {
    val packed = new Array[Byte](rows.map(_._2.length).sum)
    var offset = 0
    rows.foreach { case (_, bytes) =>
      System.arraycopy(bytes, 0, packed, offset, bytes.length)
      offset += bytes.length
    }
    new Result(rowCount, meanCost, threshold, rows.map(_._1), rows.map(_._2.length), packed)
  }
}
