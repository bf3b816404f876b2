package org.apache.spark.sql.delta.zcube.merge

import java.nio.file.Paths

import scala.util.control.NonFatal

import com.databricks.spark.util.Log4jUsageLogger
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.actions.CommitInfo
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.delta.{DeltaConfigs, DeltaLog}
import org.apache.spark.sql.functions.col
import org.scalatest.Suite

import io.zcube.concurrent.Causes
import io.zcube.sql.conf.ZCubeConf

/** Runs MERGE with pruning and without it, on copies of one table. */
trait MergeSession extends DeltaSparkSession { self: Suite =>

  override protected def settings: Map[String, String] = Map(
    ZCubeConf.MergeIntoPruning.key -> "true",
    ZCubeConf.MergeIntoMinTableBytes.key -> "0",
    "spark.sql.shuffle.partitions" -> "1",
    "spark.databricks.delta.snapshotPartitions" -> "1"
  )

  protected def newPath(): String = newFolder().toString

  protected def copyOf(path: String): String = copyOf(Paths.get(path)).toString

  /** Rows 0 until `rows` in files by ranges of a column, with `k` and more columns computed from
    * `id`.
    */
  protected def create(columns: String, files: Int, by: String, rows: Long = 600)(
      expressions: String*): String = {
    val path = newPath()
    spark.sql(s"CREATE TABLE delta.`$path` $columns")
    fill(path, files, by, rows)(expressions: _*)
    path
  }

  protected def fill(path: String, files: Int, by: String, rows: Long = 600)(
      expressions: String*): Unit =
    spark.range(0, rows, 1, 1).selectExpr(expressions: _*)
      .repartitionByRange(files, col(by))
      .write.format("delta").mode("append").save(path)

  private def json(rows: DataFrame): Seq[String] =
    rows.selectExpr("to_json(struct(*))").collect().map(_.getString(0)).toSeq.sorted

  /** @param hidden  whether the identity column is left out
    * @param tracked whether rows have ids; those of the first rows are included
    */
  protected def rowsOf(
      path: String,
      hidden: Boolean = false,
      tracked: Boolean = false): Seq[String] = {
    val rows = spark.read.format("delta").load(path)
    val shown = if (hidden) rows.drop("number") else rows
    val id = s"CASE WHEN _metadata.row_id < ${RandomMerges.Rows} THEN _metadata.row_id END"
    val more = if (tracked) Seq(s"$id AS row_id") else Nil
    json(shown.selectExpr("struct(*) AS row" +: more: _*))
  }

  /** The number of target files that a MERGE read after skipping. */
  protected def filesRead(merge: => Unit): Long = {
    val stats = Log4jUsageLogger.track(merge)
      .filter(_.tags.get("opType").contains("delta.dml.merge.stats"))
    MergeSession.FilesRead
      .findFirstMatchIn(stats.map(_.blob).mkString)
      .fold(-1L)(_.group(1).toLong)
  }

  /** The change rows of commits from a version on, where the table keeps them. */
  protected def changesOf(path: String, from: Long, hidden: Boolean = false): Seq[String] = {
    val snapshot = DeltaLog.forTable(spark, path).update()
    if (!DeltaConfigs.CHANGE_DATA_FEED.fromMetaData(snapshot.metadata) || snapshot.version < from)
      Nil
    else {
      val changes = spark.read.format("delta").option("readChangeFeed", "true")
        .option("startingVersion", from)
        .load(path)
        .drop("_commit_timestamp")
      json(if (hidden) changes.drop("number") else changes)
    }
  }

  protected def versionOf(path: String): Long = DeltaLog.forTable(spark, path).update().version

  /** Read from the log itself, since DESCRIBE HISTORY takes a job. */
  private def commitOf(path: String, version: Long): CommitInfo =
    DeltaLog.forTable(spark, path).getChanges(version, None).toSeq
      .collectFirst { case (`version`, actions) =>
        actions.collectFirst { case info: CommitInfo => info }.get
      }.get

  /** What a MERGE did, or the condition of its error. */
  protected def outcome(path: String, merge: String => Unit): Outcome = {
    val before = versionOf(path)
    val report = reportOf(path, merge)
    report.copy(rows = rowsOf(path) ++ changesOf(path, before + 1))
  }

  /** The same without the rows, which are read slowly. */
  protected def reportOf(path: String, merge: String => Unit): Outcome =
    try {
      val before = versionOf(path)
      val read = filesRead(merge(path))
      val after = versionOf(path)
      // Without changes there may be no commit.
      val commit = Option.when(after > before)(commitOf(path, after))
      val metrics = commit.flatMap(_.operationMetrics).getOrElse(Map.empty)
      Outcome(
        Nil,
        metrics.view.filterKeys(MergeSession.Figures.contains).toMap,
        read,
        // Except expression ids.
        commit.fold(Map.empty[String, String])(_.operationParameters)
          .map { case (key, value) => key -> value.replaceAll("#\\d+L?", "") },
        None,
        metrics.get("numTargetFilesAdded")
      )
    } catch {
      case NonFatal(e) =>
        // The innermost: others only say where it happened.
        val of = Causes.of(e).collect {
          case e: SparkThrowable if e.getCondition != null => e.getCondition
        }.toSeq
        Outcome(Nil, Map.empty, 0, Map.empty, Some(of.lastOption.getOrElse(throw e)), None)
    }

  /** Compares a MERGE on copies of a table, with pruning and with plain Delta; only the files read
    * may differ.
    *
    * @param fails the condition of the error, with both, if it fails
    * @return the files read with pruning, and without
    */
  protected def compared(path: String, clue: Any = "", fails: Option[String] = None)(
      merge: String => Unit): (Long, Long) = {
    val (one, other) = (copyOf(path), copyOf(path))
    val pruned = outcome(one, merge)
    val plain = withSettings(ZCubeConf.MergeIntoPruning.key -> "false")(outcome(other, merge))
    // Two failures would be equal too, of a statement that was never right.
    assert(plain.error == fails, clue)
    assert(pruned.error == plain.error, clue)
    assert(pruned.rows == plain.rows, clue)
    assert(pruned.figures == plain.figures, clue)
    assert(pruned.parameters == plain.parameters, clue)
    // Without figures, the one would be as good as the other.
    if (fails.isEmpty) assert(pruned.read >= 0 && plain.read >= 0, clue)
    assert(pruned.read <= plain.read, clue)
    (pruned.read, plain.read)
  }

  protected case class Outcome(
      rows: Seq[String],
      figures: Map[String, String],
      read: Long,
      parameters: Map[String, String],
      error: Option[String],
      filesAdded: Option[String])

  protected object Outcome {
    val nothing: Outcome = Outcome(Nil, Map.empty, 0, Map.empty, None, None)
  }
}

object MergeSession {

  private val FilesRead = "\"targetAfterSkipping\":\\{[^}]*\"files\":(\\d+)".r

  /** Metrics that don't depend on time, files read, or file sizes. */
  private val Figures = Set(
    "numTargetRowsInserted",
    "numTargetRowsUpdated",
    "numTargetRowsDeleted",
    "numTargetRowsMatchedUpdated",
    "numTargetRowsMatchedDeleted",
    "numTargetRowsNotMatchedBySourceUpdated",
    "numTargetRowsNotMatchedBySourceDeleted",
    "numTargetRowsCopied",
    "numTargetFilesRemoved",
    "numTargetDeletionVectorsAdded",
    "numTargetDeletionVectorsUpdated",
    "numOutputRows",
    "numSourceRows"
  )
}
