package org.apache.spark.sql.delta.zcube.table

import java.net.URI
import java.nio.file.Paths

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.functions.udf
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** Compares the files that WHERE selects with those that Spark's scan reads. */
class ClusteringPredicateSuite extends AnyFunSuite with DeltaSparkSession {

  private lazy val first = {
    val path = folder.resolve("first").toString
    spark.sql(
      s"""CREATE TABLE delta.`$path` (id BIGINT, day DATE, s STRING, n STRUCT<v: INT, w: STRING>,
      | other INT) USING delta CLUSTER BY (id, day, s, n.v)
      | TBLPROPERTIES ('delta.columnMapping.mode' = 'name')""".stripMargin)
    spark.range(0, 1000, 1, 10).selectExpr(
      "id",
      "date_sub(current_date(), cast(id / 20 AS INT)) day",
      "if(id < 100, null, concat(char(97 + int(id / 100)), id)) s",
      "if(id > 899, null, named_struct('v', int(id) * 3, 'w', 'w')) n",
      "int(id) other"
    ).write.format("delta").mode("append").save(path)
    spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN day TO born")
    path
  }

  private lazy val second = {
    val path = folder.resolve("second").toString
    spark.sql(
      s"""CREATE TABLE delta.`$path` (ts TIMESTAMP, price DECIMAL(12, 2), c CHAR(5), x DOUBLE)
      | USING delta CLUSTER BY (ts, price, c, x)""".stripMargin)
    spark.range(0, 1000, 1, 10).selectExpr(
      "timestamp_seconds(1700000000 + id * 3600) ts",
      "cast(id / 8 AS DECIMAL(12, 2)) price",
      "cast(id AS STRING) c",
      "if(id % 500 = 3, double('NaN'), id / 7) x"
    ).write.format("delta").mode("append").save(path)
    path
  }

  private def name(path: String): String = new URI(path).getPath.split('/').last

  private def scanned(path: String, predicate: String): Set[String] =
    spark.read.format("delta").load(path).where(predicate).inputFiles.map(name).toSet

  /** All selected fresh files must be rewritten. */
  private def considered(path: String, predicate: String): Set[String] = spark
    .sql(s"OPTIMIZE delta.`$path` WHERE $predicate DRY RUN")
    .where("action = 'rewrite'")
    .selectExpr("explode(file_list.path)").collect().map(row => name(row.getString(0))).toSet

  private def described(path: String, predicate: String): Long = spark
    .sql(s"DESCRIBE CLUSTERING delta.`$path` WHERE $predicate")
    .where("column = '*'").head().getAs[Long]("files")

  /** @param skipping whether some files, but not all, must be excluded */
  private def check(path: String, predicates: Seq[String], skipping: Boolean): Unit = {
    val files = predicates.map { predicate =>
      val expected = scanned(path, predicate)
      assert(considered(path, predicate) == expected, predicate)
      predicate -> expected.size
    }
    if (skipping) assert(files.filterNot(f => f._2 > 0 && f._2 < 10) == Nil)
    val _ = assert(described(path, files.head._1) == files.head._2)
  }

  test("the same files as a scan: numbers, dates, strings, nested fields, column mapping") {
    check(
      first,
      Seq(
        "id BETWEEN 150 AND 250",
        "id + 0 = 5 OR id < 120",
        "`ID` = '17'",
        "NOT (id >= 250)",
        "id <=> 17",
        "id < coalesce(null, 200)",
        "born BETWEEN date_sub(current_date(), 12) AND current_date() - 8",
        "born >= cast(current_timestamp() AS DATE) - 3",
        "s LIKE 'd32%'",
        "startswith(s, 'c')",
        "s IS NULL",
        "n.V IN (3, 601)",
        "n.v IS NULL",
        "id < 300 AND s LIKE 'c%' AND n.v > 3"
      ) ++ Night.only(
        "id IN (5, 205, 390)",
        "ID < 120",
        "`id` = '17'",
        "id < 100 + 100 AND true",
        "born > current_date() - 7",
        "born = current_date() - 7",
        "born > current_date() - interval 7 days",
        "s LIKE 'd%'",
        "s IN ('b150', 'd350')",
        "s = 'c' || '222'",
        "n.v BETWEEN 600 AND 700"
      ),
      skipping = true
    )
  }

  if (Night.all) test("timestamps, decimals, CHAR and floating point select a scan's files") {
    check(
      second,
      Seq(
        "ts < '2023-11-20'",
        "ts BETWEEN timestamp'2023-11-20 00:00:00' AND timestamp'2023-11-21 00:00:00'",
        "price BETWEEN 10 AND 20",
        "price = 10.5",
        "price IN (1, 50)",
        "x < 10",
        "x > 10 AND x <= 20.5"
      ),
      skipping = true
    )
    // How a scan handles these depends on settings.
    val uncertain = Seq(
      "cast(ts AS DATE) = '2023-11-20'",
      "date_trunc('DAY', ts) = '2023-11-20'",
      "c = '150'",
      "c IN ('150', '250')",
      "c LIKE '15%'",
      "x = double('NaN')",
      "isnan(x)"
    )
    check(second, uncertain, skipping = false)
    ("Asia/Tokyo" +: Night.only("America/Los_Angeles")).foreach { zone =>
      spark.conf.set("spark.sql.session.timeZone", zone)
      try check(second, "ts < '2023-11-18 10:00:00'" +: uncertain, skipping = false)
      finally spark.conf.unset("spark.sql.session.timeZone")
    }
    spark.conf.set("spark.sql.readSideCharPadding", "false")
    try check(second, uncertain, skipping = false)
    finally spark.conf.unset("spark.sql.readSideCharPadding")
  }

  if (Night.all) test("predicates that match all files, none, or by which nothing can be skipped") {
    spark.udf.register("odd", udf((x: Long) => x % 2 == 1))
    check(
      first,
      Seq(
        "false",
        "cast(null AS BOOLEAN)",
        "id = null",
        "id < 5 AND id > 7",
        "1 = 2 AND id = 3",
        "id = 3 OR true",
        "odd(id) AND id < 150",
        "id NOT IN (1, 2)",
        "CASE WHEN id < 200 THEN true ELSE false END",
        "cast(id AS DOUBLE) < 150.5"
      ) ++ Night.only("true", "odd(id)", "hash(id) = 5", "id % 2 = 0", "cast(id AS INT) < 150"),
      skipping = false
    )
    assert(considered(first, "false").isEmpty)
    assert(considered(first, "odd(id)").size == 10)
  }

  test("without Delta's data skipping, WHERE is rejected instead of selecting all files") {
    spark.conf.set("spark.databricks.delta.stats.skipping", "false")
    try {
      assert(refused(first, "id < 100") == "ZCUBE_WHERE_NEEDS_SKIPPING")
      val error = intercept[AnalysisException](described(first, "id < 100"))
      assert(error.getMessage.contains("(id < 100)"))
      // What selects all files or none needs no skipping.
      assert(considered(first, "false").isEmpty)
      assert(considered(first, "id = 3 OR true").size == 10)
    } finally spark.conf.unset("spark.databricks.delta.stats.skipping")
  }

  test("a cached table, or a version of it, changes nothing") {
    val cached = spark.sql(s"SELECT * FROM delta.`$first`").cache()
    val version = spark.sql(s"DESCRIBE HISTORY delta.`$first`").selectExpr("max(version)").head()
    val old =
      spark.read.format("delta").option("versionAsOf", version.getLong(0)).load(first).cache()
    try {
      assert(cached.count() == 1000 && old.count() == 1000)
      assert(considered(first, "id BETWEEN 150 AND 250").size == 2)
    } finally {
      cached.unpersist()
      old.unpersist(): Unit
    }
  }

  private def refused(path: String, predicate: String): String =
    intercept[Exception](considered(path, predicate)) match {
      case e: AnalysisException => e.getCondition
      case e => e.getClass.getSimpleName
    }

  test("predicates on other columns, or that aren't deterministic, are rejected") {
    val other = "ZCUBE_NOT_A_CLUSTERING_COLUMN"
    // Also where the optimizer would lose the column.
    Seq(
      "other = 1",
      "id = 1 AND other = 1",
      "other = 1 OR true",
      "false AND n.w = 'x'",
      "n IS NULL")
      .foreach(predicate => assert(refused(first, predicate) == other, predicate))
    Seq("rand() < 0.5", "id < 100 * rand()", "id = 1 AND uuid() > 'a'").foreach { predicate =>
      assert(refused(first, predicate) == "ZCUBE_NONDETERMINISTIC_PREDICATE", predicate)
    }
    assert(refused(first, "id = (SELECT 1)") != other)
    assert(refused(first, "nope = 1") == "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    spark.conf.set("spark.sql.caseSensitive", "true")
    try assert(refused(first, "ID = 1") == "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    finally spark.conf.unset("spark.sql.caseSensitive")
  }

  test("history records the predicate as Delta does for partitions") {
    def recorded(name: String, declared: String): String = {
      val path = folder.resolve(name).toString
      spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, x INT) USING delta $declared")
      for (_ <- 1 to 2)
        spark.range(99, 103, 1, 1).selectExpr("id", "1 AS x")
          .write.format("delta").mode("append").save(path)
      spark.sql(s"OPTIMIZE delta.`$path` WHERE id BETWEEN 100 AND 300 AND id <> 7").collect()
      val Array(last) = spark.sql(s"DESCRIBE HISTORY delta.`$path` LIMIT 1")
        .selectExpr("operation", "operationParameters.predicate").collect()
      assert(last.getString(0) == "OPTIMIZE")
      last.getString(1)
    }
    assert(recorded("by-zcube", "CLUSTER BY (id)") == recorded("by-delta", "PARTITIONED BY (id)"))
  }

  private val copies = Iterator.from(0)

  /** The partitions of the files that an OPTIMIZE of a copy removed, or its error. */
  private def outcome(
      path: String,
      predicate: String,
      zcube: Boolean): Either[String, Set[String]] = {
    val copied = folder.resolve(s"copy-${copies.next()}")
    copy(Paths.get(path), copied)
    val log = DeltaLog.forTable(spark, copied.toString)
    val before = log.update()
    spark.conf.set("spark.zcube.enabled", zcube.toString)
    try {
      spark.sql(s"OPTIMIZE delta.`$copied` WHERE $predicate ZORDER BY (id)").collect()
      val after = log.update().allFiles.collect().map(_.path).toSet
      Right(before.allFiles.collect().filterNot(f => after(f.path)).map(
        _.partitionValues.toString).toSet)
    } catch {
      case e: SparkThrowable => Left(e.getCondition)
    } finally spark.conf.unset("spark.zcube.enabled")
  }

  if (Night.all) test("WHERE on partitions: the same files and errors as Delta") {
    val path = folder.resolve("partitioned").toString
    spark.range(0, 400, 1, 1).selectExpr(
      "id",
      "date_sub(current_date(), int(id % 4)) d",
      "if(id % 4 = 0, null, concat('s', id % 2)) s"
    ).write.format("delta").partitionBy("d", "s").save(path)
    Seq(
      "D IN (current_date() - 1, current_date() - 2) AND s LIKE 's1%'",
      "d BETWEEN current_date() - 2 AND current_date() - 1",
      "s IS NULL",
      "s = 'none'",
      "s = 's1' OR id = 3",
      "s = (SELECT 's1')",
      "nope = 1"
    ).foreach { predicate =>
      val delta = outcome(path, predicate, zcube = false)
      assert(outcome(path, predicate, zcube = true) == delta, predicate)
    }
  }
}
