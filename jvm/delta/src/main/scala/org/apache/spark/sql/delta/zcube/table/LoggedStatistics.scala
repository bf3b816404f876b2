package org.apache.spark.sql.delta.zcube.table

import scala.collection.mutable

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{Concat, Expression}
import org.apache.spark.sql.classic.{ExpressionUtils, SparkSession}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.stats.DeltaStatistics.NUM_RECORDS
import org.apache.spark.sql.delta.{DeltaLog, DeltaTableUtils, Snapshot}
import org.apache.spark.sql.functions.{col, from_json, lit, when}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.planning.DataFile

/** The files that predicates select, and their statistics.
  *
  * Delta parses the statistics of all files of the table and caches them along with the table's
  * state, which costs the same memory and time again. If the predicates use only partition columns,
  * this parses only the statistics of the selected files and caches nothing.
  */
final class LoggedStatistics private (
    session: SparkSession,
    snapshot: Snapshot,
    filters: Seq[Expression],
    byPartition: Boolean) {

  /** The selected files, without their ranges. If the predicates need statistics, Delta brings the
    * log actions of all selected files to the driver, for the moment; otherwise they stay where they
    * are.
    *
    * @param tags reads their cubes; with None, no file has one
    */
  def files(tags: Option[CubeTags]): Seq[DataFile] = Sessions.within(session) {
    import org.apache.spark.sql.delta.implicits._
    if (byPartition) {
      val picked = LoggedStatistics.parsed(snapshot, pickedByPartition)
      PlanningFiles.of(LoggedStatistics.countOnly(picked).as[AddFile], tags)
    } else if (filters.isEmpty)
      PlanningFiles.of(LoggedStatistics.countOnly(snapshot.withStats).as[AddFile], tags)
    else PlanningFiles.of(snapshot.filesForScan(filters, keepNumRecords = true).files, tags)
  }

  /** Log actions of some of the selected files. Their statistics have only the row count, as in
    * Delta's own command.
    */
  def actions(of: FileFilter): Seq[AddFile] = Sessions.within(session) {
    import org.apache.spark.sql.delta.implicits._
    // Files of a cube have the same tags, except those that a MERGE has copied.
    val known = new mutable.HashMap[Map[String, String], Map[String, String]]
    def same(map: Map[String, String]) =
      if (map == null) map else known.getOrElseUpdate(map, map)
    LoggedStatistics.countOnly(parsed(Some(of))).as[AddFile].collect().toSeq.map { file =>
      file.copy(partitionValues = same(file.partitionValues), tags = same(file.tags))
    }
  }

  /** The paths of the selected files. */
  def paths: Set[String] = Sessions.within(session) {
    if (byPartition) pickedByPartition.select("path").collect().map(_.getString(0)).toSet
    else snapshot.filesForScan(filters, keepNumRecords = false).files.map(_.path).toSet
  }

  private def pickedByPartition: DataFrame =
    DeltaLog.filterFileList(snapshot.metadata.partitionSchema, snapshot.allFiles.toDF(), filters)

  /** Some of the selected files, or all files of the table, with a column `stats` for queries. */
  def parsed(only: Option[FileFilter]): DataFrame = Sessions.within(session) {
    only match {
      // The filter needs no statistics, so the optimizer applies it before they are parsed.
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
    // Delta's own distinction from filters that need statistics to select files.
    val columns = snapshot.metadata.partitionColumns
    val byPartition = filters.nonEmpty &&
      filters.forall(DeltaTableUtils.isPredicatePartitionColumnsOnly(_, columns, session))
    new LoggedStatistics(session, snapshot, filters, byPartition)
  }

  /** Replaces parsed statistics by JSON that has the row count, or nothing. It doesn't use to_json of
    * a struct: the optimizer would rewrite that to use the parsed text, which is NULL if the text is
    * blank, and fails.
    */
  private def countOnly(parsed: DataFrame): DataFrame = {
    val rows = col(s"stats.$NUM_RECORDS")
    // By name, a session might have another function.
    val text =
      Concat(Seq(lit(s"""{"$NUM_RECORDS":"""), rows, lit("}")).map(ExpressionUtils.expression))
    parsed.withColumn(
      "stats",
      when(rows.isNull, lit("{}")).otherwise(ExpressionUtils.column(text)))
  }

  /** The files' log actions, with the text of the statistics parsed. */
  private[zcube] def parsed(snapshot: Snapshot, files: DataFrame): DataFrame =
    files.withColumn("stats", from_json(col("stats"), snapshot.statsSchema))
}
