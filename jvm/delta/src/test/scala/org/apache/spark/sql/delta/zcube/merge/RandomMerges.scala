package org.apache.spark.sql.delta.zcube.merge

import scala.util.Random

/** Makes a random table and random MERGEs into it, as SQL. */
final class RandomMerges(seed: Int) {
  import RandomMerges._

  private val random = new Random(seed * 7919L + 1)

  private def pick[T](of: Seq[T]): T = of(random.nextInt(of.size))
  private def sometimes(oneOf: Int): Boolean = random.nextInt(oneOf) == 0

  private val (keyType, key) = Keys(seed % Keys.size)

  /** Where the table has the key: with a struct around it, or not. */
  private val nested = sometimes(4)
  private val column = if (nested) "t.n.k" else "t.k"

  val properties: Seq[(String, String)] = Seq(
    "delta.enableDeletionVectors" -> random.nextBoolean(),
    "delta.enableChangeDataFeed" -> random.nextBoolean(),
    "delta.columnMapping.mode" -> pick(Seq("none", "name", "id")),
    "delta.enableRowTracking" -> sometimes(4),
    "delta.dataSkippingNumIndexedCols" -> pick(Seq(32, 32, 32, 2, 0)),
    "delta.constraints.bounded" -> "id < 100000"
  ).map { case (key, value) => key -> value.toString }

  val partitions: Seq[String] = pick(Seq(Nil, Nil, Seq("p")))

  /** Beside a generated column and, in some tables, an identity column. */
  val columns: String =
    s"id BIGINT, ${if (nested) s"n STRUCT<k: $keyType, x: INT>" else s"k $keyType"}, p INT, m INT, " +
      s"d DATE, ts TIMESTAMP, v ${if (seed % 5 == 3) "CHAR(12)" else "STRING"}"

  val hasIdentity: Boolean = sometimes(3)

  val files: Int = 1 + random.nextInt(8)

  /** Up to which size Spark broadcasts: most sources, and few targets. */
  val broadcastBytes: Int = Seq(8000, 5000, 3000)(seed % 3)

  private def keyOf(id: String): String = s"CAST(${key.replace("$", id)} AS $keyType)"

  /** The rows at the beginning, from numbers `id`. */
  val rows: Seq[String] = Seq(
    "id",
    if (nested) {
      s"CASE WHEN id % 13 != 0 THEN named_struct('k', ${keyOf("id")}, 'x', 1) END AS n"
    } else s"CASE WHEN id % 13 != 0 THEN ${keyOf("id")} END AS k",
    s"CAST(id DIV ${Rows / 4} AS INT) AS p",
    "CAST(id % 97 AS INT) AS m",
    "date_add(DATE'2024-03-29', CAST(id DIV 20 AS INT)) AS d",
    "TIMESTAMP'2024-03-29 12:00:00' + make_dt_interval(0, CAST(id AS INT)) AS ts",
    "CAST(id AS STRING) AS v"
  )

  /** A query of the source. Not all columns have the target's types. */
  private def source(): String = {
    val from = random.nextInt(Rows + 20)
    val ids = pick(Seq(
      s"SELECT id FROM range($from, ${from + 1 + random.nextInt(Rows / 3)})",
      s"SELECT id * 19 AS id FROM range(${random.nextInt(10)}, 14)",
      s"SELECT id * 31 + $from AS id FROM range(9)",
      s"SELECT id FROM range($from, ${from + 3}) UNION ALL SELECT id + ${Rows / 2} FROM range($from, ${from + 5})",
      "SELECT id FROM range(0)",
      s"SELECT id FROM range($Rows) WHERE id % ${50 + random.nextInt(50)} = 7"
    ))
    val nulls = if (sometimes(3)) "CASE WHEN id % 5 = 1 THEN NULL ELSE id END" else "id"
    val duplicates = if (sometimes(8)) s" UNION ALL ($ids LIMIT 1)" else ""
    val wider = Wider.get(keyType).filter(_ => random.nextBoolean()).getOrElse(keyType)
    val key = s"CAST(${keyOf(s"($nulls)")} AS $wider)"
    s"SELECT id, $key AS k, CAST(id DIV ${Rows / 4} AS INT) AS p, CAST(id % 97 AS INT) AS m, " +
      "date_add(DATE'2024-03-29', CAST(id DIV 20 AS INT)) AS d, " +
      "TIMESTAMP'2024-03-29 12:00:00' + make_dt_interval(0, CAST(id AS INT)) AS ts, " +
      s"id % 2 = 0 AS even, concat('new ', id) AS v${pick(Seq("", ", id + 1 AS extra"))} " +
      s"FROM ($ids$duplicates)"
  }

  private def on(): String = pick(Seq(
    s"$column = s.k",
    s"s.k = $column",
    s"$column <=> s.k",
    s"$column = s.k AND t.m = s.m",
    s"$column = s.k AND s.even",
    s"$column = s.k AND t.p = s.p",
    s"t.id = s.id AND t.m <=> s.m AND $column = s.k",
    s"$column = s.k AND t.id >= 50",
    s"($column = s.k OR t.id = s.id) AND t.m = s.m",
    s"t.id = s.id AND ($column = s.k OR ($column IS NULL AND s.k IS NULL))",
    "t.id IN (s.id, s.id + 40)",
    "t.id = s.id AND t.ts BETWEEN s.ts - INTERVAL 30 MINUTES AND s.ts",
    "t.id BETWEEN s.id AND s.id + 1 AND t.d = s.d",
    "t.ts > s.ts AND t.ts <= s.ts + INTERVAL 1 HOUR",
    "CAST(t.ts AS DATE) = s.d AND t.id = s.id",
    "t.d = s.ts AND t.m = s.m",
    "t.p = s.p AND t.m = s.m AND t.id < s.id + 10"
  ))

  private def clauses(): String = {
    val inserted = if (nested) "named_struct('k', s.k, 'x', 2)" else "s.k"
    val insert = s"INSERT (id, ${if (nested) "n" else "k"}, p, m, d, ts, v) " +
      s"VALUES (s.id, $inserted, s.p, s.m, s.d, s.ts, s.v)"
    val upsert = s"WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN $insert"
    pick(Seq(
      upsert,
      upsert,
      s"WHEN MATCHED AND t.m % 3 = 0 THEN DELETE WHEN NOT MATCHED THEN $insert",
      "WHEN MATCHED THEN UPDATE SET v = s.v, m = t.m + 1",
      "WHEN MATCHED THEN DELETE",
      s"WHEN NOT MATCHED THEN $insert",
      s"WHEN NOT MATCHED AND s.even THEN $insert",
      s"WHEN NOT MATCHED AND s.even THEN $insert WHEN NOT MATCHED THEN $insert",
      "WHEN MATCHED AND t.m > 40 THEN DELETE WHEN MATCHED AND s.even THEN UPDATE SET v = s.v " +
        s"WHEN NOT MATCHED AND s.id % 3 = 0 THEN $insert",
      // Against the CHECK.
      "WHEN MATCHED AND s.id % 7 = 3 THEN UPDATE SET id = 100000 + t.m",
      "WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED BY SOURCE AND t.m > 90 THEN DELETE",
      s"WHEN NOT MATCHED THEN $insert WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 'gone'"
    ))
  }

  /** The next MERGE, and the settings for it. */
  def next(): Merge = {
    val (of, condition, all) = (source(), on(), clauses())
    val from = pick(Seq(FromQuery, FromTable, FromView))
    val evolves = sometimes(5) && !nested && !hasIdentity
    if (evolves) {
      Merge(
        s"SELECT * EXCEPT (even) FROM ($of)",
        condition.replace("s.even", "s.m >= 0"),
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        evolves,
        from
      )
    } else Merge(of, condition, all, evolves, from)
  }

  /** What else happens to the table between MERGEs, if anything. */
  def between(): Option[String => String] = pick(Seq(
    None,
    None,
    None,
    None,
    Some((t: String) => s"DELETE FROM $t WHERE id % 11 = 5"),
    Some((t: String) => s"UPDATE $t SET m = m + 1 WHERE id % 17 = 3"),
    Some((t: String) => s"OPTIMIZE $t ZORDER BY (id, m)")
  ))
}

object RandomMerges {

  /** What a MERGE names as its source: the query, or a Delta table with its rows, or a view of that
    * table.
    */
  sealed trait From
  case object FromQuery extends From
  case object FromTable extends From
  case object FromView extends From

  final case class Merge(
      source: String,
      on: String,
      clauses: String,
      evolves: Boolean,
      from: From)

  /** The number of rows of a new table. */
  val Rows = 240

  private val Wider: Map[String, String] = Map(
    "TINYINT" -> "BIGINT",
    "SMALLINT" -> "BIGINT",
    "INT" -> "DECIMAL(20,2)",
    "BIGINT" -> "DECIMAL(24,2)",
    "DECIMAL(12,2)" -> "DECIMAL(16,4)"
  )

  /** Types, and keys of these types computed from a number: `$`. */
  private val Keys: Seq[(String, String)] = Seq(
    "BIGINT" -> "$ * 1000000007",
    "INT" -> "$ * 3 - 500",
    "SMALLINT" -> "$",
    "TINYINT" -> "$ % 120",
    "DECIMAL(12,2)" -> "$ / 4",
    "DECIMAL(30,4)" -> "$ * 100000000000000",
    // Longer than the prefix that statistics keep of a string.
    "STRING" -> "concat(repeat('same prefix ', 4), lpad(CAST($ DIV 2 AS STRING), 6, '0'), 'é')",
    "STRING" -> "lpad(CAST($ AS STRING), 6, '0')",
    "STRING" -> "concat(lpad(CAST($ AS STRING), 6, '0'), repeat('\uD83D\uDE00', 40))",
    "DATE" -> "date_add(DATE'1890-01-01', CAST($ * 40 AS INT))",
    "TIMESTAMP" -> "timestamp_micros($ * 999999937)",
    "TIMESTAMP_NTZ" -> "CAST(timestamp_micros($ * 999999937) AS TIMESTAMP_NTZ)",
    "DOUBLE" -> "$ / 3",
    "BOOLEAN" -> "$ % 2 = 0"
  )
}
