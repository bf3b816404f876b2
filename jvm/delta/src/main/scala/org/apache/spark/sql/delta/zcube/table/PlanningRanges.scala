package org.apache.spark.sql.delta.zcube.table

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.delta.stats.DeltaStatistics.{MAX, MIN, NULL_COUNT, NUM_RECORDS}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types._
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{DataFrame => AnyDataFrame}
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.clustering.table.{ColumnMinMax, ColumnPath}
import io.zcube.planning.KeyRanges
import io.zcube.range.{OrderPreservingBits, SampledByteKeys}
import io.zcube.sql.values.LongKey

/** The ranges of files in some columns, from the statistics in the log. Values come to the driver
  * as 8-byte integers, paths as hashes, whatever their length. Ranges of different instances don't
  * compare: the integers of texts depend on a sample of them ([[io.zcube.range.SampledByteKeys]]).
  */
final class PlanningRanges private (columns: Int, parts: Array[PlanningRanges.Part]) {

  private val places: mutable.LongMap[(PlanningRanges.Part, Int)] = {
    val found = new mutable.LongMap[(PlanningRanges.Part, Int)](parts.map(_.paths.length).sum)
    parts.foreach(part => part.paths.indices.foreach(i => found(part.paths(i)) = (part, i)))
    found
  }

  /** Unknown for a file without statistics of any of the columns. */
  def of(path: String): KeyRanges =
    places.get(FileFilter.hashOf(path)).fold(KeyRanges.Unknown) { case (part, i) =>
      val from = 2 * columns * i
      new KeyRanges(
        part.bounds.slice(from, from + columns),
        part.bounds.slice(from + columns, from + 2 * columns))
    }
}

object PlanningRanges {

  /** About how many bounds of a string column are sampled; the gaps between them are divided further. */
  private val MaxSampled = 1024

  /** The ranges of the files in one partition of the log's state.
    *
    * @param bounds for each file the lower bounds of its columns, then the upper bounds
    */
  final private class Part(val paths: Array[Long], val bounds: Array[Long]) extends Serializable

  /** Where what is read of a file is in its row: path, minima, maxima, numbers of NULLs, number of rows. */
  final private case class Ordinals(columns: Int) {
    val path: Int = 0
    val low: Range = Range(1, 1 + columns)
    val high: Range = Range(1 + columns, 1 + 2 * columns)
    val nulls: Range = Range(1 + 2 * columns, 1 + 3 * columns)
    val rows: Int = 1 + 3 * columns
  }

  /** @param files the requested files, in the form of [[LoggedStatistics]] */
  def of(
      session: SparkSession,
      columns: Seq[ColumnPath],
      files: AnyDataFrame): PlanningRanges = Sessions.within(session) {
    val statistics = files.schema("stats").dataType
    def each(kind: String) =
      columns.map(column => StatisticsColumns.of(statistics, kind +: column.physical))
    val counts = each(NULL_COUNT) :+ StatisticsColumns.of(statistics, Seq(NUM_RECORDS))
    val selected = (col("path") +: (each(MIN) ++ each(MAX) ++ counts)).zipWithIndex
      .map { case (column, i) => column.as(s"c$i") }
    val described = files.select(selected: _*).asInstanceOf[DataFrame]
    val types = Ordinals(columns.length).low.map(described.schema(_).dataType).toArray
    val query = described.queryExecution
    val parts = SQLExecution.withNewExecutionId(query) {
      val texts = types.indices.filter(types(_).isInstanceOf[StringType]).toArray
      val samples =
        if (texts.isEmpty) Array.empty[Array[Array[Array[Byte]]]]
        else query.toRdd.mapPartitions(rows => Iterator(sampled(rows, types, texts))).collect()
      val byText = texts.indices.map { i =>
        texts(i) -> SampledByteKeys.of(samples.toSeq.flatMap(_(i)))
      }.toMap
      query.toRdd.mapPartitions(rows => Iterator(partOf(rows, types, byText))).collect()
    }
    new PlanningRanges(columns.length, parts)
  }

  /** Bounds in some of the columns. */
  private def sampled(
      rows: Iterator[InternalRow],
      types: Array[DataType],
      columns: Array[Int]): Array[Array[Array[Byte]]] = {
    val maxSampled = math.max(1, MaxSampled / TaskContext.get().numPartitions())
    val samples = columns.map(_ => new TextSample(maxSampled))
    val ordinals = Ordinals(types.length)
    for {
      row <- rows
      i <- columns.indices
      at <- Seq(ordinals.low(columns(i)), ordinals.high(columns(i)))
      if !row.isNullAt(at)
    } samples(i).add(row.getUTF8String(at))
    samples.map(_.result)
  }

  private def partOf(
      rows: Iterator[InternalRow],
      types: Array[DataType],
      texts: Map[Int, SampledByteKeys]): Part = {
    val columns = types.length
    val ordinals = Ordinals(columns)
    val keys = types.indices.map { i =>
      texts.get(i).fold(keyOf(types(i))) { keys =>
        Some((value: Any) => keys.of(value.asInstanceOf[UTF8String].getBytes))
      }
    }
    val paths, bounds = mutable.ArrayBuilder.make[Long]
    rows.foreach { row =>
      val lower = Array.fill(columns)(Long.MinValue)
      val upper = Array.fill(columns)(Long.MaxValue)
      var isKnown = false
      (0 until columns).foreach { i =>
        val (low, high) = (ordinals.low(i), ordinals.high(i))
        if (ColumnMinMax.hasOnlyNulls(row, low, high, ordinals.nulls(i), ordinals.rows)) {
          lower(i) = KeyRanges.NoLower
          upper(i) = KeyRanges.NoUpper
          isKnown = true
        } else if (keys(i).isDefined && !row.isNullAt(low) && !row.isNullAt(high)) {
          val min = keys(i).get(row.get(low, types(i)))
          val max = keys(i).get(row.get(high, types(i)))
          // A maximum below the minimum is useless, and would look like no values.
          if (min <= max) {
            lower(i) = min
            upper(i) = max
          }
          isKnown = true
        }
        // With one bound or none, the column may hold anything.
      }
      if (isKnown) {
        paths += FileFilter.hashOf(row.getUTF8String(ordinals.path))
        bounds ++= lower
        bounds ++= upper
      }
    }
    new Part(paths.result(), bounds.result())
  }

  /** Maps a value other than a text, in Spark's internal form, to an integer that sorts like the
    * values. Values that are close may have the same, but each value has one: otherwise a file with a
    * single value wouldn't look like it. None for types without such integers.
    */
  private def keyOf(dataType: DataType): Option[Any => Long] = dataType match {
    case _: DecimalType =>
      Some(value => OrderPreservingBits.ofDouble(value.asInstanceOf[Decimal].toDouble))
    // Statistics have milliseconds, rounded down.
    case TimestampType | TimestampNTZType =>
      Some(value => Math.floorDiv(value.asInstanceOf[Long], 1000L))
    case other => LongKey.find(other).map(key => key.numberOf(_))
  }
}
