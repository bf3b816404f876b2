package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.classic
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.DeltaOperations.ManualUpdate
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.DeltaSparkSession
import org.apache.spark.sql.functions.{input_file_name, max, min}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.planning.KeyRanges
import io.zcube.range.OrderPreservingBits

/** Compares the ranges of files with the minima and maxima of their rows. */
class PlanningRangesSuite extends AnyFunSuite with DeltaSparkSession {

  private val Files = 24
  private val RowsOfFile = 5

  /** Columns in the order of `id`. Each of these types is rounded in the log, or cut off, or is
    * mapped to a number in its own way.
    */
  private val columns: Seq[(String, String)] = Seq(
    "b" -> "CAST(id DIV 60 AS BOOLEAN)",
    "t" -> "CAST(id - 60 AS TINYINT)",
    "i" -> "CAST((id - 60) * 30000000 AS INT)",
    "f" -> "CAST((id - 60) / 7 AS FLOAT)",
    "d" -> "CASE WHEN id > 110 THEN double('nan') ELSE (id - 60) * 1e300 END",
    "day" -> "date_add(DATE'1969-12-01', CAST(id AS INT))",
    "ts" -> "timestamp_micros((id - 60) * 1333)",
    "ntz" -> "CAST(timestamp_micros((id - 60) * 777777) AS TIMESTAMP_NTZ)",
    "small" -> "CAST((id - 60) * 0.01 AS DECIMAL(10, 2))",
    "large" -> "CAST((id - 60) * 1234567890123456789.01 AS DECIMAL(38, 4))",
    // Differs only behind the characters that the log keeps.
    "url" -> "concat('https://example.org/', repeat('x', 40), lpad(id, 4, '0'))",
    "word" -> "concat(chr(CAST(65 + id DIV 5 AS INT)), 'é', id)"
  )

  private lazy val path: String = {
    val to = folder.resolve("typed").toString
    // A file for each partition of six rows, of which neighbours share one: their ranges touch.
    spark.range(0L, Files * (RowsOfFile + 1L), 1L, Files)
      .selectExpr(s"id DIV ${RowsOfFile + 1} * $RowsOfFile + id % ${RowsOfFile + 1} AS id")
      .selectExpr(columns.map { case (name, sql) => s"$sql AS $name" } :+ "id": _*)
      .write.format("delta").save(to)
    to
  }

  private lazy val snapshot = DeltaLog.forTable(spark, path).update()

  private lazy val ranges: PlanningRanges = rangesOf(columns.map(_._1))

  private def rangesOf(names: Seq[String]): PlanningRanges = {
    val session = spark.asInstanceOf[classic.SparkSession]
    val found = names.map(name =>
      TableColumns.find(snapshot.schema, Seq(name), session.sessionState.conf.resolver).get)
    PlanningRanges.of(session, found, snapshot.withStats)
  }

  test("the log has minima of numbers, and counts the NULLs of booleans too") {
    val other = folder.resolve("statistics").toString
    spark.sql(
      s"CREATE TABLE delta.`$other` (n INT, flag BOOLEAN, list ARRAY<INT>, m INT) USING delta " +
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '3')")
    val empty = DeltaLog.forTable(spark, other).update()
    val known = Seq("n", "flag", "list", "m").map { name =>
      val column = TableColumns.find(empty.schema, Seq(name), _ == _).get
      (StatisticsColumns.hasMinima(empty, column), StatisticsColumns.hasNullCounts(empty, column))
    }
    assert(known === Seq((true, true), (false, true), (false, false), (false, false)))
  }

  /** The path of each file as in the log, in the order of the rows. */
  private lazy val files: Seq[String] = {
    val byName = snapshot.allFiles.collect().map(f => f.path.split('/').last -> f.path).toMap
    spark.read.format("delta").load(path)
      .groupBy(input_file_name().as("file")).agg(min("id").as("first")).orderBy("first")
      .collect().map(row => byName(row.getString(0).split('/').last)).toSeq
  }

  test("files that share a value have ranges that overlap, in each column") {
    val all = files.map(ranges.of)
    columns.indices.foreach { c =>
      all.zip(all.tail).foreach { case (one, next) =>
        assert(one.lower(c) <= one.upper(c), columns(c))
        assert(next.lower(c) <= one.upper(c) && one.lower(c) <= next.upper(c), columns(c))
      }
    }
  }

  test("ranges are in the order of the values, and apart if the log keeps what differs") {
    val all = files.map(ranges.of)
    columns.map(_._1).zipWithIndex.foreach { case (name, c) =>
      val ordered = all.map(_.lower(c))
      assert(ordered === ordered.sorted, name)
      // The values of a file and of the second next differ by more than any rounding.
      val apart = all.zip(all.drop(2)).count { case (one, second) =>
        one.upper(c) < second.lower(c)
      }
      val expected = name match {
        case "b" | "url" => 0
        // NaN isn't in Delta's minima and maxima of the files that have other values.
        case "d" => Files - 4
        case _ => Files - 2
      }
      assert(apart >= expected, name)
    }
  }

  test("a file with one value has one key, whatever the log rounds") {
    val single = folder.resolve("single").toString
    spark.sql(
      "SELECT TIMESTAMP'2024-01-01 00:00:00.123456' ts, 0.1BD d, 7 i FROM range(0, 9, 1, 1)")
      .write.format("delta").save(single)
    val session = spark.asInstanceOf[classic.SparkSession]
    val log = DeltaLog.forTable(spark, single).update()
    val found = Seq("ts", "d", "i").flatMap(name =>
      TableColumns.find(log.schema, Seq(name), session.sessionState.conf.resolver))
    val range = PlanningRanges.of(session, found, log.withStats).of(log.allFiles.head().path)
    assert(range.dimensions === 3)
    assert(range.lower === range.upper)
  }

  test("a range holds each value of its file, as far as the log has it") {
    val range = rangesOf(Seq("ts", "large")).of(files.head)
    val exact = spark.read.format("delta").load(path).where("id <= 5")
      .selectExpr("CAST(unix_millis(ts) AS DOUBLE) ts", "CAST(large AS DOUBLE) large")
      .agg(min("ts"), max("ts"), min("large"), max("large")).head()
    assert(range.lower(0) <= exact.getDouble(0) && exact.getDouble(1) <= range.upper(0))
    assert(range.lower(1) <= OrderPreservingBits.ofDouble(exact.getDouble(2)))
    assert(OrderPreservingBits.ofDouble(exact.getDouble(3)) <= range.upper(1))
  }

  test("a file without statistics, or another table's, is unknown") {
    assert(ranges.of("none.parquet") eq KeyRanges.Unknown)
    val bare = folder.resolve("bare").toString
    withSettings("spark.databricks.delta.stats.collect" -> "false") {
      spark.range(5).write.format("delta").save(bare)
    }
    val log = DeltaLog.forTable(spark, bare).update()
    val session = spark.asInstanceOf[classic.SparkSession]
    val id = TableColumns.find(log.schema, Seq("id"), session.sessionState.conf.resolver).get
    val found = PlanningRanges.of(session, Seq(id), log.withStats)
    log.allFiles.collect().foreach(f => assert(found.of(f.path) eq KeyRanges.Unknown))
  }

  test("a column with only NULLs has an empty range, others of the file have not") {
    val some = folder.resolve("some").toString
    spark.range(3).selectExpr("id", "CAST(NULL AS STRING) s").coalesce(1)
      .write.format("delta").save(some)
    val log = DeltaLog.forTable(spark, some).update()
    val session = spark.asInstanceOf[classic.SparkSession]
    val both = Seq("id", "s").map(name =>
      TableColumns.find(log.schema, Seq(name), session.sessionState.conf.resolver).get)
    val range = PlanningRanges.of(session, both, log.withStats).of(log.allFiles.head().path)
    assert(range.lower.toSeq === Seq(0L, KeyRanges.NoLower))
    assert(range.upper.toSeq === Seq(2L, KeyRanges.NoUpper))
  }

  test("counts of NULLs show what a column holds if both are there, and bounds aren't") {
    val some = folder.resolve("counts").toString
    spark.range(3).selectExpr("id a", "id > 1 b").coalesce(1).write.format("delta").save(some)
    val log = DeltaLog.forTable(spark, some)
    val one = (1L, 1L)
    val unknown = (Long.MinValue, Long.MaxValue)
    val none = (KeyRanges.NoLower, KeyRanges.NoUpper)
    val bounds = """"minValues":{"a":1},"maxValues":{"a":1}"""
    val expected = Seq(
      s""""numRecords":3,$bounds,"nullCount":{"a":3,"b":3}""" -> Seq(one, none),
      s""""numRecords":3,$bounds,"nullCount":{"a":1,"b":2}""" -> Seq(one, unknown),
      """"numRecords":3,"nullCount":{"a":3,"b":3}""" -> Seq(none, none),
      """"numRecords":0,"nullCount":{"a":0,"b":0}""" -> Seq(none, none),
      """"numRecords":3,"nullCount":{"a":3}""" -> Seq(none, unknown),
      """"numRecords":3,"minValues":{"a":1},"nullCount":{"a":3,"b":3}""" -> Seq(unknown, none),
      """"numRecords":3,"minValues":{"a":2},"maxValues":{"a":1}""" -> Seq(unknown, unknown),
      """"numRecords":3,"nullCount":{"a":2,"b":2}""" -> Nil,
      """"numRecords":3""" -> Nil,
      """"nullCount":{"a":3,"b":3}""" -> Nil
    )
    val files = expected.indices.map { i =>
      AddFile(s"part-$i", Map.empty, 1L, 1L, dataChange = true, stats = s"{${expected(i)._1}}")
    }
    log.startTransaction(None).commit(files, ManualUpdate)
    val session = spark.asInstanceOf[classic.SparkSession]
    val both = Seq("a", "b").map(name =>
      TableColumns.find(log.update().schema, Seq(name), session.sessionState.conf.resolver).get)
    val found = PlanningRanges.of(session, both, log.update().withStats)
    files.zip(expected).foreach { case (file, (statistics, ranges)) =>
      val range = found.of(file.path)
      assert(range.lower.toSeq.zip(range.upper) === ranges, statistics)
    }
  }

  test("with one bound alone, a column may hold anything") {
    val some = folder.resolve("half").toString
    spark.range(3).selectExpr("id a", "id b").coalesce(1).write.format("delta").save(some)
    val log = DeltaLog.forTable(spark, some)
    val half = Seq(""""minValues":{"a":1,"b":1}""", """"maxValues":{"a":1,"b":1}""").map { known =>
      AddFile(
        s"part-${known.length}-${known.hashCode}",
        Map.empty,
        1L,
        1L,
        dataChange = true,
        stats = s"""{"numRecords":1,$known}""")
    }
    log.startTransaction(None).commit(half, ManualUpdate)
    val session = spark.asInstanceOf[classic.SparkSession]
    val a = TableColumns.find(log.update().schema, Seq("a"), session.sessionState.conf.resolver)
    val found = PlanningRanges.of(session, a.toSeq, log.update().withStats)
    half.foreach(file => assert(found.of(file.path) eq KeyRanges.Unknown))
  }
}
