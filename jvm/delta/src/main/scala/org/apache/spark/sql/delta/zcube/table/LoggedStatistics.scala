package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.{DeltaLog, DeltaTableUtils, Snapshot}
import org.apache.spark.sql.functions.{col, concat, from_json, lit, when}
import org.apache.spark.sql.{Column, DataFrame}

/** The files that predicates pick, and their statistics.
  *
  * Delta parses the statistics of all files of the table, and keeps them beside the table's state, which
  * costs as much memory and time again. Where partition columns alone decide, those of the files that
  * they pick are parsed, and nothing is kept.
  */
final class LoggedStatistics private (
    session: SparkSession,
    snapshot: Snapshot,
    filters: Seq[Expression],
    byPartition: Boolean) {

  /** The files that are picked. Their statistics are the count of their rows, as Delta's own command has
    * it.
    */
  def files: Seq[AddFile] =
    if (byPartition) session.withActive {
      import org.apache.spark.sql.delta.implicits._
      LoggedStatistics
        .parsed(snapshot, pickedByPartition)
        .withColumn("stats", LoggedStatistics.countOnly(col("stats.numRecords")))
        .as[AddFile]
        .collect()
        .toSeq
    }
    else session.withActive(snapshot.filesForScan(filters, keepNumRecords = true).files)

  /** Those of the files that are picked. */
  def paths: Set[String] = session.withActive {
    if (byPartition) pickedByPartition.select("path").collect().map(_.getString(0)).toSet
    else snapshot.filesForScan(filters, keepNumRecords = false).files.map(_.path).toSet
  }

  private def pickedByPartition: DataFrame =
    DeltaLog.filterFileList(snapshot.metadata.partitionSchema, snapshot.allFiles.toDF(), filters)

  /** Some of the files that are picked, or all of the table, with a column `stats` for queries. */
  def parsed(only: Option[FileFilter]): DataFrame = session.withActive {
    only match {
      // The optimizer puts the filter, which needs no statistics, before they are parsed.
      case Some(filter) if byPartition =>
        LoggedStatistics.parsed(snapshot, filter.of(snapshot.allFiles.toDF()))
      case Some(filter) => filter.of(snapshot.withStats)
      case None => snapshot.withStats
    }
  }
}

object LoggedStatistics {

  def of(
      session: SparkSession,
      snapshot: Snapshot,
      filters: Seq[Expression]): LoggedStatistics = {
    // As Delta tells them from filters that need statistics to pick files.
    val columns = snapshot.metadata.partitionColumns
    val byPartition = filters.nonEmpty &&
      filters.forall(DeltaTableUtils.isPredicatePartitionColumnsOnly(_, columns, session))
    new LoggedStatistics(session, snapshot, filters, byPartition)
  }

  /** The text of statistics that have a count of rows, or nothing. Not by to_json of a struct: the
    * optimizer would make it one of the parsed text, which is NULL where that is blank, and fails.
    */
  private def countOnly(rows: Column): Column =
    when(rows.isNull, lit("{}")).otherwise(concat(lit("{\"numRecords\":"), rows, lit("}")))

  /** Of files as actions of the log have them: with the text of the statistics taken apart. */
  private[zcube] def parsed(snapshot: Snapshot, files: DataFrame): DataFrame =
    files.withColumn("stats", from_json(col("stats"), snapshot.statsSchema))
}
