package io.zcube.benchmarks

import scala.util.Random

import org.apache.spark.Partitioner
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.expressions.DeltaRangeIds
import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.range.{BytesRangeBounds, LongRangeBounds, OrderPreservingBits}

/** The two look-ups of one type's values, each as generated code makes it. */
abstract class RangeIdLookups(partitioner: Partitioner) {
  private val row = new GenericInternalRow(Array[Any](null))

  /** The id of a value by this project's bounds. */
  def zcube(index: Int): Int

  /** The id of the same value by Spark's partitioner. */
  def delta(index: Int): Int

  final protected def partitionOf(value: Any): Int = {
    row.update(0, value)
    partitioner.getPartition(row)
  }
}

object RangeIdLookups {

  /** A power of two; enough values that branch prediction can't memorize their comparisons. */
  val Count: Int = 1 << 14

  /** Delta's default, `spark.databricks.io.skipping.mdc.rangeId.max`. */
  private val Ranges = 1000

  /** @param column `long`, `double`, `string` (random letters) or `url` (strings that share a prefix) */
  def of(column: String): RangeIdLookups = {
    val random = new Random(20040381L)
    def text(): String = random.alphanumeric.take(6 + random.nextInt(20)).mkString
    val lookups = column match {
      case "long" => ofLongs(Array.fill(Count)(random.nextLong()))
      case "double" => ofDoubles(Array.fill(Count)(random.nextGaussian()))
      case "string" => ofStrings(Array.fill(Count)(text()))
      case "url" => ofStrings(Array.fill(Count)(s"https://www.example.org/products/${text()}"))
    }
    // Look-ups that disagree are not to be compared.
    (0 until Count).foreach(i => require(lookups.zcube(i) == lookups.delta(i), s"value $i"))
    lookups
  }

  private def ofLongs(values: Array[Long]): RangeIdLookups = {
    val partitioner = planned(values.toSeq)(Encoders.scalaLong)
    val bounds = LongRangeBounds(DeltaRangeIds.bounds(partitioner).map(_.getLong(0)))
    new RangeIdLookups(partitioner) {
      override def zcube(index: Int): Int = bounds.idOf(values(index))
      override def delta(index: Int): Int = partitionOf(values(index))
    }
  }

  private def ofDoubles(values: Array[Double]): RangeIdLookups = {
    val partitioner = planned(values.toSeq)(Encoders.scalaDouble)
    val keys =
      DeltaRangeIds.bounds(partitioner).map(b => OrderPreservingBits.ofDouble(b.getDouble(0)))
    val bounds = LongRangeBounds(keys)
    new RangeIdLookups(partitioner) {
      override def zcube(index: Int): Int = bounds.idOf(OrderPreservingBits.ofDouble(values(index)))
      override def delta(index: Int): Int = partitionOf(values(index))
    }
  }

  private def ofStrings(texts: Array[String]): RangeIdLookups = {
    val partitioner = planned(texts.toSeq)(Encoders.STRING)
    val bounds =
      BytesRangeBounds(DeltaRangeIds.bounds(partitioner).map(_.getUTF8String(0).getBytes))
    val values = texts.map(UTF8String.fromString)
    new RangeIdLookups(partitioner) {
      override def zcube(index: Int): Int = {
        val value = values(index)
        bounds.idOf(value.getBaseObject, value.getBaseOffset, value.numBytes)
      }
      override def delta(index: Int): Int = partitionOf(values(index))
    }
  }

  private def planned[A: Encoder](values: Seq[A]): Partitioner = {
    val session =
      SparkSession.builder().master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try DeltaRangeIds.partitioner(
        session,
        session.createDataset(values).queryExecution.analyzed,
        Ranges)
    finally session.stop()
  }
}
