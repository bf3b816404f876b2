package org.apache.spark.sql.delta.zcube.merge

import io.delta.tables.DeltaTable
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** Compares MERGE that skips files by its source's keys with Delta's on a copy of the same table.
  */
class PrunedMergeSuite extends AnyFunSuite with MergeSession {

  private def plainTable(properties: String = ""): String =
    create(s"(id BIGINT, k BIGINT, v STRING) USING delta $properties", 12, "k")(
      "id",
      "id AS k",
      "'old' AS v")

  private val Upsert = "WHEN MATCHED THEN UPDATE SET v = s.v " +
    "WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (s.k, s.k, s.v)"

  private def merge(path: String, source: String, on: String, clauses: String): Unit =
    spark.sql(s"MERGE INTO delta.`$path` t USING ($source) s ON $on $clauses").collect(): Unit

  test("an upsert reads the files that may hold a key, whatever the source is") {
    val table = plainTable()
    val source = copyOf(table)
    for {
      of <- Seq(
        "SELECT id AS k, 'new' AS v FROM range(205, 240) UNION ALL VALUES (5, 'new'), (5000, 'new')",
        s"SELECT k, 'new' AS v FROM delta.`$source` WHERE k BETWEEN 205 AND 239",
        "SELECT id AS k, CAST(rand() AS STRING) AS v FROM range(210, 215)"
      ) ++ Night.only("SELECT CAST(id AS INT) AS k, 'new' AS v FROM range(595, 605)")
    } {
      val (read, all) =
        if (of.contains("rand"))
          (outcome(copyOf(table), merge(_, of, "t.k = s.k", Upsert)).read, 12L)
        else compared(table, of)(merge(_, of, "t.k = s.k", Upsert))
      assert(all == 12, of)
      assert(read <= 2, of)
    }
  }

  test("DeltaTable.merge reads only the files that may hold a key") {
    val path = copyOf(plainTable())
    val source = spark.range(300, 310).selectExpr("id AS k", "'new' AS v")
    val read = filesRead {
      DeltaTable.forPath(spark, path).as("t").merge(source.as("s"), "t.k = s.k")
        .whenMatched().updateExpr(Map("v" -> "s.v")).execute(): Unit
    }
    assert(read == 1)
    assert(rowsOf(path).count(_.contains("new")) == 10)
  }

  /** The files that a MERGE reads whose source is one row. A join says which rows it changes. */
  private def readBy(table: String, source: String, on: String): Long = {
    val target = copyOf(table)
    val read = filesRead(merge(target, source, on, "WHEN MATCHED THEN UPDATE SET v = 'new'"))
    def ids(query: String) = spark.sql(query).collect().map(_.getLong(0)).toSeq.sorted
    val expected = ids(s"SELECT t.id FROM delta.`$table` t JOIN ($source) s ON $on")
    assert(ids(s"SELECT id FROM delta.`$target` WHERE v = 'new'") == expected, on)
    read
  }

  if (Night.all) test("ranges, ORs and casts of integers") {
    val table = plainTable()
    val source = "SELECT 100L AS a, 120L AS b, 300 AS c, CAST(NULL AS BIGINT) AS n, 'x' AS w"
    for {
      (on, files) <- Seq(
        "s.a <= t.k AND t.k < s.a + 60" -> 2,
        "t.k > s.b + 460" -> 1,
        "t.k = s.a OR (t.k IS NULL AND s.a IS NULL)" -> 1,
        "CAST(t.k AS DECIMAL(24, 2)) = s.c" -> 1,
        "t.k BETWEEN s.n AND s.b" -> 0,
        // One side says nothing.
        "t.k = s.a OR t.v = s.w" -> 12
      ) ++ Night.only(
        "t.k BETWEEN s.a AND s.b" -> 1,
        "t.k IN (s.a, s.b, s.c)" -> 2,
        "t.k = s.a OR t.k = 599" -> 2,
        "t.k < s.a" -> 3,
        "t.k = s.a OR t.k = s.c" -> 2,
        "t.k IN (s.a, s.c) AND t.id IN (s.a, s.c)" -> 2,
        "t.k = CAST(s.c AS STRING)" -> 1,
        "t.k = s.n" -> 0,
        "t.k = s.a OR s.w = 'y'" -> 12,
        "t.k != s.a" -> 12
      )
    } assert(readBy(table, source, on) == files, on)
  }

  if (Night.all) test("dates and times compared with each other") {
    // A day a file, and all at noon.
    val table = create(
      "(id BIGINT, d DATE, ts TIMESTAMP, ntz TIMESTAMP_NTZ, v STRING) USING delta",
      12,
      "id")(
      "id",
      "date_add(DATE'2011-12-25', CAST(id DIV 50 AS INT)) AS d",
      "timestamp_seconds(1324814400 + id DIV 50 * 86400) AS ts",
      "CAST(timestamp_seconds(1324814400 + id DIV 50 * 86400) AS TIMESTAMP_NTZ) AS ntz",
      "'old' AS v"
    )
    val source = "SELECT DATE'2011-12-30' AS d, TIMESTAMP'2011-12-30 00:00:00' AS ts, " +
      "TIMESTAMP_NTZ'2011-12-30 00:00:00' AS ntz"
    for (on <- "t.d = s.ts" +:
        Night.only("CAST(t.ntz AS DATE) = s.d", "t.d = s.ntz", "CAST(t.ts AS DATE) = s.d")) {
      // The day before, and the day after.
      assert(readBy(table, source, on) == 3, on)
      // There, it is the same time as the day after.
      withSettings("spark.sql.session.timeZone" -> "Pacific/Apia")(readBy(table, source, on))
    }
    assert(readBy(table, source, "t.ts BETWEEN s.ts AND s.ts + INTERVAL 1 DAY") == 1)
    assert(readBy(table, source, "t.d >= s.d + INTERVAL 1 DAY") == 6)
  }
}
