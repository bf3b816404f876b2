package org.apache.spark.sql.delta.zcube.table

import scala.annotation.tailrec

import org.apache.spark.sql.Column
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.stats.DeltaStatistics.{MIN, NULL_COUNT}
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.types.{AtomicType, DataType, StructType}

import io.zcube.clustering.table.ColumnPath

/** Statistics of columns in the form of [[LoggedStatistics]], and which of them the log may have. */
object StatisticsColumns {

  /** A statistic such as `minValues` for a column, from the column `stats`; NULL if it isn't kept.
    */
  def of(statistics: DataType, path: Seq[String]): Column =
    if (has(statistics, path)) {
      col(("stats" +: path).map(p => s"`${p.replace("`", "``")}`").mkString("."))
    } else lit(null)

  /** Whether the log may contain a column's minima and maxima. */
  def hasMinima(snapshot: Snapshot, column: ColumnPath): Boolean =
    has(snapshot.statsSchema, MIN +: column.physical)

  /** Whether the log may contain the numbers of a column's NULLs. Delta counts those of arrays too,
    * but skips no file by them (`SkippingEligibleColumn`).
    */
  def hasNullCounts(snapshot: Snapshot, column: ColumnPath): Boolean =
    column.dataType.isInstanceOf[AtomicType] && has(
      snapshot.statsSchema,
      NULL_COUNT +: column.physical)

  @tailrec
  private def has(dataType: DataType, path: Seq[String]): Boolean = (dataType, path) match {
    case (_, Nil) => true
    case (struct: StructType, name +: rest) if struct.fieldNames.contains(name) =>
      has(struct(name).dataType, rest)
    case _ => false
  }
}
