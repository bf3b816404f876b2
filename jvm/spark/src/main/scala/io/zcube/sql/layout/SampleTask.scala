package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.types.DataType

/** What each task of the sampling job does. */
final private[layout] class SampleTask(
    dataTypes: Seq[DataType],
    identity: RowIdentity,
    threshold: Long,
    limits: SampleLimits)
    extends Serializable {

  def run(partition: Int, rows: Iterator[InternalRow]): SampleTask.Result = {
    val hashOf = identity.hasher(partition)
    val reservoir = new SampleReservoir(limits, threshold)
    val project = UnsafeProjection.create(
      dataTypes.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) })
    var count = 0L
    while (rows.hasNext) {
      val row = rows.next()
      count += 1
      val hash = hashOf(row)
      // The projection reuses its row, and getBytes may hand out the very buffer.
      if (reservoir.accepts(hash)) reservoir.add(hash, project(row).copy().getBytes)
    }
    SampleTask.pack(count, reservoir.threshold, reservoir.result())
  }
}

private[layout] object SampleTask {

  /** @param rowCount  rows seen
    * @param threshold every row of the task below this hash is in the result
    * @param packed    the rows' bytes, one after the other
    */
  final class Result(
      val rowCount: Long,
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

  def pack(rowCount: Long, threshold: Long, rows: Array[(Long, Array[Byte])]): Result = {
    val packed = new Array[Byte](rows.map(_._2.length).sum)
    var offset = 0
    rows.foreach { case (_, bytes) =>
      System.arraycopy(bytes, 0, packed, offset, bytes.length)
      offset += bytes.length
    }
    new Result(rowCount, threshold, rows.map(_._1), rows.map(_._2.length), packed)
  }
}
