package org.apache.spark.sql.delta.zcube.merge

import scala.util.Random

import io.delta.tables.DeltaTable
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

/** Compares MERGE that skips files by its source's keys with Delta's on a copy of the same table.
  */
class PrunedMergeSuite extends AnyFunSuite with MergeSession {
  import PrunedMergeSuite._

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
        "SELECT id AS k, CAST(rand() AS STRING) AS v FROM range(210, 215)",
        "SELECT CAST(id AS INT) AS k, 'new' AS v FROM range(595, 605)"
      )
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

  for (seed <- 0 until Merges) test(s"random merge $seed") {
    randomMerge(seed)
  }

  private def randomMerge(seed: Int): Unit = {
    val random = new Random(seed * 7919L + 1)
    def pick[T](of: Seq[T]): T = of(random.nextInt(of.size))
    val (keyType, key) = Keys(seed % Keys.size)
    val properties = Seq(
      "delta.enableDeletionVectors" -> random.nextBoolean(),
      "delta.enableChangeDataFeed" -> random.nextBoolean(),
      "delta.columnMapping.mode" -> pick(Seq("none", "name", "id")),
      "delta.enableRowTracking" -> (random.nextInt(4) == 0),
      "delta.dataSkippingNumIndexedCols" -> pick(Seq(32, 32, 32, 2, 0))
    ).map { case (key, value) => key -> value.toString }
    val partitions = pick(Seq(Nil, Nil, Seq("p")))
    val nested = random.nextInt(4) == 0
    def keyOf(id: String) = key.replace("$", id)
    val keyColumn = if (nested) s"n STRUCT<k: $keyType, x: INT>" else s"k $keyType"
    val path = newPath()
    // Not by SQL, which has no generated columns on Spark 4.1 and older.
    val table = DeltaTable.create(spark).location(path)
      .addColumns(StructType.fromDDL(s"id BIGINT, $keyColumn, p INT, m INT, v STRING"))
      .addColumn(DeltaTable.columnBuilder(spark, "g").dataType("BIGINT")
        .generatedAlwaysAs("id * 2").build())
      .partitionedBy(partitions: _*)
    properties.foldLeft(table) { case (of, (key, value)) => of.property(key, value) }.execute()
    fill(path, 1 + random.nextInt(8), "id")(
      "id",
      if (nested) {
        s"CASE WHEN id % 13 != 0 THEN named_struct('k', CAST(${keyOf("id")} AS $keyType), 'x', 1) END AS n"
      } else s"CASE WHEN id % 13 != 0 THEN CAST(${keyOf("id")} AS $keyType) END AS k",
      "CAST(id DIV 150 AS INT) AS p",
      "CAST(id % 97 AS INT) AS m",
      "CAST(id AS STRING) AS v"
    )
    val from = random.nextInt(650)
    val ids = pick(Seq(
      s"SELECT id FROM range($from, ${from + 1 + random.nextInt(200)})",
      s"SELECT id * 19 AS id FROM range(${random.nextInt(30)}, 40)",
      s"SELECT id FROM range($from, ${from + 3}) UNION ALL SELECT id + 400 FROM range($from, ${from + 5})",
      "SELECT id FROM range(0)",
      s"SELECT id FROM range(600) WHERE id % ${50 + random.nextInt(50)} = 7"
    ))
    val nulls = if (random.nextInt(3) == 0) "CASE WHEN id % 5 = 1 THEN NULL ELSE id END" else "id"
    val duplicates = if (random.nextInt(8) == 0) s" UNION ALL ($ids LIMIT 1)" else ""
    val wider = if (Wider.contains(keyType) && random.nextBoolean()) "BIGINT" else keyType
    val columns = s"SELECT id, CAST(${keyOf(s"($nulls)")} AS $wider) AS k, " +
      "CAST(id DIV 150 AS INT) AS p, CAST(id % 97 AS INT) AS m, " +
      s"id % 2 = 0 AS even, concat('new ', id) AS v${pick(Seq("", ", id + 1 AS extra"))} " +
      s"FROM ($ids$duplicates)"
    // With a view of rows, or of a Delta table.
    val source = if (random.nextBoolean()) columns
    else {
      val of = newPath()
      spark.sql(columns).write.format("delta").save(of)
      s"SELECT * FROM delta.`$of`"
    }
    val column = if (nested) "t.n.k" else "t.k"
    val on = pick(Seq(
      s"$column = s.k",
      s"s.k = $column",
      s"$column <=> s.k",
      s"$column = s.k AND t.m = s.m",
      s"$column = s.k AND s.even",
      s"$column = s.k AND t.p = s.p",
      s"t.id = s.id AND t.m <=> s.m AND $column = s.k",
      s"$column = s.k AND t.id >= 50"
    ))
    val inserted = if (nested) "named_struct('k', s.k, 'x', 2)" else "s.k"
    val insert =
      s"INSERT (id, ${if (nested) "n" else "k"}, p, m, v) VALUES (s.id, $inserted, s.p, s.m, s.v)"
    val clauses = pick(Seq(
      s"WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN $insert",
      "WHEN MATCHED THEN UPDATE SET v = s.v, m = t.m + 1",
      "WHEN MATCHED THEN DELETE",
      s"WHEN NOT MATCHED THEN $insert",
      s"WHEN NOT MATCHED AND s.even THEN $insert",
      s"WHEN NOT MATCHED AND s.even THEN $insert WHEN NOT MATCHED THEN $insert",
      "WHEN MATCHED AND t.m > 40 THEN DELETE WHEN MATCHED AND s.even THEN UPDATE SET v = s.v " +
        s"WHEN NOT MATCHED AND s.id % 3 = 0 THEN $insert",
      "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE AND t.m > 90 THEN DELETE",
      s"WHEN NOT MATCHED THEN $insert WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 'gone'"
    ))
    val evolves = random.nextInt(4) == 0 && !nested
    val all = if (evolves) {
      "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    } else clauses
    val clue = s"seed $seed: $keyType, $properties, $partitions, $source, ON $on $all"
    withSettings("spark.databricks.delta.schema.autoMerge.enabled" -> evolves.toString) {
      seen(seed) = compared(path, clue) { target =>
        if (!evolves) merge(target, source, on, all)
        else {
          merge(
            target,
            s"SELECT * EXCEPT (even) FROM ($source)",
            on.replace("s.even", "s.m >= 0"),
            all)
        }
      }
    }
  }

  private val seen = scala.collection.mutable.Map.empty[Int, (Long, Long)]

  test("many of the random merges read fewer files than Delta") {
    val fewer = seen.values.count { case (read, plain) => read < plain }
    info(s"${seen.size} merges, fewer files in $fewer, " +
      s"${seen.values.map(_._1).sum} files of ${seen.values.map(_._2).sum}")
    assert(fewer >= seen.size / 4)
  }
}

object PrunedMergeSuite {

  private val Merges = 12

  private val Wider = Set("TINYINT", "SMALLINT", "INT")

  /** Types, and keys of these types computed from a number: `$`. */
  private val Keys: Seq[(String, String)] = Seq(
    "BIGINT" -> "$ * 1000000007",
    "INT" -> "$ * 3 - 500",
    "SMALLINT" -> "$",
    "DECIMAL(12,2)" -> "$ / 4",
    "DECIMAL(30,4)" -> "$ * 100000000000000",
    // Longer than the prefix that statistics keep of a string.
    "STRING" -> "concat(repeat('same prefix ', 4), lpad(CAST($ DIV 2 AS STRING), 6, '0'), 'é')",
    "STRING" -> "lpad(CAST($ AS STRING), 6, '0')",
    "DATE" -> "date_add(DATE'1890-01-01', CAST($ * 40 AS INT))",
    "TIMESTAMP" -> "timestamp_micros($ * 999999937)",
    "TIMESTAMP_NTZ" -> "CAST(timestamp_micros($ * 999999937) AS TIMESTAMP_NTZ)",
    "DOUBLE" -> "$ / 3",
    "BOOLEAN" -> "$ % 2 = 0"
  )
}
