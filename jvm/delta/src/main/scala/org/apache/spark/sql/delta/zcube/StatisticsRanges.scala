package org.apache.spark.sql.delta.zcube

import java.nio.ByteBuffer

import scala.annotation.tailrec

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.{Column, Row}

import io.zcube.planning.KeyRanges
import io.zcube.range.OrderPreservingBits

/** The extents of a table's files in some columns, by the statistics in the log. */
object StatisticsRanges {

  /** By the file's path; files without statistics of any of the columns are missing. */
  def of(
      session: SparkSession,
      snapshot: Snapshot,
      columns: Seq[ColumnPath]): Map[String, KeyRanges] = session.withActive {
    val files = snapshot.withStats
    val statistics = files.schema("stats").dataType
    def bounds(kind: String) = columns.map(column => statistic(statistics, kind +: column.physical))
    val rows =
      files.select(col("path") +: (bounds("minValues") ++ bounds("maxValues")): _*).collect()
    rows.iterator.flatMap(row => rangesOf(row, columns.length).map(row.getString(0) -> _)).toMap
  }

  /** Such as `minValues`, a column: from the column `stats` of that type; NULL if it isn't kept. */
  private[zcube] def statistic(statistics: DataType, path: Seq[String]): Column =
    if (has(statistics, path)) {
      col(("stats" +: path).map(p => s"`${p.replace("`", "``")}`").mkString("."))
    } else lit(null)

  @tailrec
  private def has(dataType: DataType, path: Seq[String]): Boolean = (dataType, path) match {
    case (_, Nil) => true
    case (struct: StructType, name +: rest) if struct.fieldNames.contains(name) =>
      has(struct(name).dataType, rest)
    case _ => false
  }

  private def rangesOf(row: Row, columns: Int): Option[KeyRanges] = {
    val lower = Array.tabulate(columns)(i => key(row.get(1 + i), up = false))
    val upper = Array.tabulate(columns)(i => key(row.get(1 + columns + i), up = true))
    // A bound alone, or none: the column may hold anything.
    lower.indices.foreach { i =>
      if (lower(i).isEmpty || upper(i).isEmpty) {
        lower(i) = Some(Long.MinValue)
        upper(i) = Some(Long.MaxValue)
      }
    }
    val known = lower.exists(!_.contains(Long.MinValue))
    Option.when(known)(new KeyRanges(lower.map(_.get), upper.map(_.get)))
  }

  /** A number that sorts as the value does, rounded outwards where it can't be exact. */
  private[zcube] def key(value: Any, up: Boolean): Option[Long] = value match {
    case null => None
    case v: Byte => Some(v.toLong)
    case v: Short => Some(v.toLong)
    case v: Int => Some(v.toLong)
    case v: Long => Some(v)
    case v: Float => Some(OrderPreservingBits.ofFloat(v))
    case v: Double => Some(OrderPreservingBits.ofDouble(v))
    case v: java.math.BigDecimal =>
      val near = v.doubleValue
      Some(OrderPreservingBits.ofDouble(if (up) Math.nextUp(near) else Math.nextDown(near)))
    case v: java.sql.Date => Some(v.toLocalDate.toEpochDay)
    case v: java.time.LocalDate => Some(v.toEpochDay)
    case v: java.sql.Timestamp => Some(instant(v.toInstant, up))
    case v: java.time.Instant => Some(instant(v, up))
    case v: java.time.LocalDateTime => Some(instant(v.toInstant(java.time.ZoneOffset.UTC), up))
    case v: String => Some(prefix(v, up))
    case _ => None
  }

  /** Statistics hold milliseconds, rounded down. */
  private def instant(value: java.time.Instant, up: Boolean): Long =
    value.toEpochMilli + (if (up) 1 else 0)

  /** The first 8 bytes as an unsigned number, moved into the range of signed ones. */
  private def prefix(text: String, up: Boolean): Long = {
    val bytes = text.getBytes("UTF-8")
    val filler: Byte = if (up && bytes.length >= 8) -1 else 0
    val first = Array.tabulate(8)(i => if (i < bytes.length) bytes(i) else filler)
    ByteBuffer.wrap(first).getLong ^ Long.MinValue
  }
}
