package org.apache.spark.sql.delta.zcube.merge

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd}
import org.apache.spark.sql.zcube.SparkEvents
import org.scalatest.Suite

/** Tables of six files by a key, and sources with some of the keys, which Spark may broadcast. */
trait KeyedTables extends MergeSession { self: Suite =>

  override protected def settings: Map[String, String] = super.settings ++ Map(
    // More than the sources, and less than three files.
    "spark.sql.autoBroadcastJoinThreshold" -> "40000",
    // Delta counts the rows that a MERGE removes and adds, and by default only logs that a number is wrong.
    "spark.databricks.delta.commandInvariantChecksThrow" -> "true"
  )

  protected def table(
      key: String,
      of: String,
      properties: Seq[String] = Nil,
      vectors: Boolean = true,
      layout: String = ""): String =
    create(
      s"(id BIGINT, k $key, p INT, v STRING) USING delta $layout TBLPROPERTIES (" +
        (s"'delta.enableDeletionVectors' = '$vectors'" +: properties).mkString(", ") + ")",
      6,
      "id",
      600
    )(
      "id",
      s"CAST($of AS $key) AS k",
      "CAST(id % 2 AS INT) AS p",
      "concat_ws(' ', md5(CAST(id AS STRING)), sha2(CAST(id AS STRING), 512)) AS v")

  protected lazy val plain = table("BIGINT", "id")
  protected lazy val withoutVectors = table("BIGINT", "id", vectors = false)

  /** A table of these rows. */
  protected def stored(query: String): String = {
    val path = newPath()
    spark.sql(query).write.format("delta").save(path)
    path
  }

  /** Keys all over the table, and some that it doesn't have. */
  protected val Scattered = "SELECT id * 29 AS k, 'new' AS v FROM range(30)"
  protected lazy val scattered = stored(Scattered)

  protected def merge(source: String, on: String, clauses: String)(path: String): Unit = spark.sql(
    s"MERGE INTO delta.`$path` t USING ($source) s ON $on $clauses").collect(): Unit

  protected val Upsert: String =
    "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"

  /** Whether the log says this of a MERGE, which is compared with Delta's.
    *
    * @param fails the condition of the MERGE's error, with both, if it fails
    */
  protected def isSaid(
      text: String,
      path: String,
      source: String,
      on: String,
      clauses: String,
      fails: Option[String] = None): Boolean = {
    var read = 0L
    val isSaid = LogLines.of("io.zcube.merge") {
      read = compared(path, (source, on, clauses), fails)(merge(source, on, clauses))._2
    }.exists(_.contains(text))
    // The log says it before anything runs.
    assert((read == 0) == fails.isDefined, (source, on, clauses))
    isSaid
  }

  /** How many rows a MERGE of scattered keys shuffles. */
  protected def shuffled(table: String, clauses: String, isPruned: Boolean): Long = {
    val (path, rows) = (copyOf(table), new AtomicLong)
    val listener = new SparkListener {
      override def onTaskEnd(end: SparkListenerTaskEnd): Unit =
        rows.addAndGet(end.taskMetrics.shuffleWriteMetrics.recordsWritten): Unit
    }
    withSettings(
      "spark.zcube.mergeInto.pruning" -> isPruned.toString,
      // Of a table's keys alone, few bytes are enough for many.
      "spark.sql.autoBroadcastJoinThreshold" -> "5000"
    ) {
      SparkEvents.within(spark.sparkContext, listener) {
        merge(s"SELECT * FROM delta.`$scattered`", "t.k = s.k", clauses)(path)
      }
    }
    rows.get
  }
}

object KeyedTables {

  /** The error of a row that matches twice. */
  val Twice = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
}
