package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.functions.{col, expr}

/** A table with columns of every type, odd values in each, and a history: widened types, a dropped
  * column and an added one, deleted rows, row ids, mapped columns, partitions whose values need
  * escaping. What is read of it doesn't come from the code under test.
  */
final private[zcube] class EveryType(spark: SparkSession, path: String) {
  import EveryType._

  private val table = s"delta.`$path`"

  def create(): Unit = {
    spark.sql(
      s"""CREATE TABLE $table (
         |id BIGINT, bool BOOLEAN, b TINYINT, sh SMALLINT, i INT, s STRING, c CHAR(6), vc VARCHAR(20),
         |bin BINARY, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, dec DECIMAL(10,2), wide DECIMAL(30,5),
         |f FLOAT, dbl DOUBLE, n STRUCT<k: INT, t: STRING>, a ARRAY<INT>, m MAP<STRING, INT>, gone INT,
         |p STRING, pt TIMESTAMP) USING delta PARTITIONED BY (p, pt) TBLPROPERTIES (
         |'delta.enableDeletionVectors' = 'true', 'delta.enableTypeWidening' = 'true',
         |'delta.enableRowTracking' = 'true')""".stripMargin)
    for (from <- Seq(0L, 100L))
      spark.range(from, from + 100, 1, 2).selectExpr(Values: _*)
        .write.format("delta").mode("append").save(path)
    Seq(
      // Before columns are mapped, so that the log has its name, too.
      s"ALTER TABLE $table ADD COLUMN late STRUCT<x: INT, y: STRING>",
      s"ALTER TABLE $table SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name', " +
        "'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7')",
      s"ALTER TABLE $table DROP COLUMN gone",
      s"ALTER TABLE $table ALTER COLUMN sh TYPE INT",
      s"ALTER TABLE $table ALTER COLUMN dec TYPE DECIMAL(14,4)",
      s"INSERT INTO $table (id, late, p) VALUES (300, named_struct('x', 1, 'y', 'b'), 'q'), (301, NULL, 'q')",
      s"INSERT INTO $table (id, late, p) VALUES (302, named_struct('x', 2, 'y', 'b'), 'q'), (303, NULL, 'q')",
      s"DELETE FROM $table WHERE id % 17 = 3"
    ).foreach(spark.sql(_).collect())
  }

  /** Each row, with its id. JSON has only the milliseconds of times. */
  def rows: Seq[String] = spark.read.format("delta").load(path)
    .selectExpr("to_json(struct(*, _metadata.row_id, _metadata.row_commit_version, " +
      "unix_micros(ts) AS micros, CAST(ntz AS STRING) AS text))")
    .collect().map(_.getString(0)).toSeq.sorted

  /** What the log says of a file that isn't true of its rows, as conditions; none if all is true. */
  def untrueStatistics: Seq[String] = {
    val logged = DeltaLog.forTable(spark, path).update().withStats
      .selectExpr("element_at(split(path, '/'), -1) AS file", "stats")
    val rows = spark.read.format("delta").load(path).withColumn("of", expr("_metadata.file_name"))
    val counted = Ranged.flatMap(c =>
      Seq(s"min($c) AS `min $c`", s"max($c) AS `max $c`", s"count_if($c IS NULL) AS `null $c`"))
    val found = rows.groupBy("of")
      .agg(expr("count(*) AS rows"), counted.map(expr): _*)
    val both = logged.join(found, col("file") === col("of"), "full_outer").cache()
    // The log has milliseconds.
    def after(c: String) = if (c == "ts" || c == "ntz") "+ INTERVAL 1 MILLISECOND" else ""
    val untrue = "file IS NULL OR of IS NULL OR NOT stats.numRecords <=> rows" +:
      Ranged.flatMap(c =>
        Seq(
          s"stats.minValues.$c > `min $c`",
          s"stats.maxValues.$c ${after(c)} < `max $c`",
          s"NOT stats.nullCount.$c <=> `null $c`"))
    try untrue.filterNot(both.where(_).isEmpty)
    finally both.unpersist(): Unit
  }
}

private[zcube] object EveryType {

  /** Those with minima and maxima in the log, without CHAR: Spark pads what it reads of it. */
  private val Ranged = Seq(
    "id",
    "b",
    "sh",
    "i",
    "s",
    "vc",
    "d",
    "ts",
    "ntz",
    "dec",
    "wide",
    "f",
    "dbl",
    "n.k",
    "n.t",
    "late.x",
    "late.y")

  private val Values = Seq(
    "id",
    "id % 3 = 0 AS bool",
    "CAST(id % 100 AS TINYINT) AS b",
    "CAST(id AS SMALLINT) AS sh",
    "IF(id % 7 = 0, NULL, CAST(hash(id) AS INT)) AS i",
    "CASE WHEN id % 11 = 0 THEN '' WHEN id % 13 = 0 THEN concat(repeat('x', 40), id, 'é ') " +
      "ELSE concat(id % 20, ' ') END AS s",
    "CAST(id % 50 AS STRING) AS c",
    "CAST(id AS STRING) AS vc",
    "CAST(hex(id) AS BINARY) AS bin",
    "CASE WHEN id % 5 = 0 THEN date_add(DATE'1500-01-01', CAST(id AS INT)) " +
      "ELSE date_add(DATE'2024-01-01', CAST(id % 30 AS INT)) END AS d",
    "CASE id % 9 WHEN 0 THEN TIMESTAMP'1500-02-03 04:05:06.789123' " +
      "WHEN 1 THEN TIMESTAMP'0001-01-01 00:00:00' " +
      "WHEN 2 THEN TIMESTAMP'9999-12-31 23:59:59.999999' " +
      "ELSE timestamp_micros(1700000000000000 + id * 1234567) END AS ts",
    "CAST(timestamp_micros(1600000000000000 + id * 7654321) AS TIMESTAMP_NTZ) AS ntz",
    "CAST(id / 7 AS DECIMAL(10,2)) AS dec",
    "CAST(id * 1000000000000 AS DECIMAL(30,5)) AS wide",
    "CAST(CASE id % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' WHEN 2 THEN 'Infinity' " +
      "ELSE id / 3 END AS FLOAT) AS f",
    "CAST(CASE id % 10 WHEN 3 THEN 'NaN' WHEN 4 THEN '-0.0' WHEN 5 THEN '-Infinity' " +
      "ELSE id / 7 END AS DOUBLE) AS dbl",
    "IF(id % 4 = 0, NULL, named_struct('k', IF(id % 3 = 0, NULL, CAST(id AS INT)), 't', 'x')) AS n",
    "IF(id % 6 = 0, NULL, array(CAST(id AS INT), NULL)) AS a",
    "IF(id % 6 = 1, NULL, map('k', CAST(id AS INT))) AS m",
    "1 AS gone",
    "CASE WHEN id < 150 THEN 'a b=%' END AS p",
    "CASE WHEN id < 170 THEN TIMESTAMP'2023-11-05 05:30:00' END AS pt"
  )
}
