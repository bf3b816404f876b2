package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateUnsafeProjection
import org.apache.spark.sql.catalyst.expressions.{EqualTo, InterpretedUnsafeProjection, IsNull}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.functions.input_file_name
import org.apache.spark.sql.types._
import org.apache.spark.sql.zcube.{Sessions, SparkEvents}
import org.scalatest.funsuite.AnyFunSuite

/** MERGE into tables without deletion vectors, whose rows without a key of the source bypass Delta's
  * join. Compared with plain Delta on a copy of the same table.
  */
class SplitOuterJoinSuite extends AnyFunSuite with KeyedTables {
  import SplitOuterJoinSuite._

  /** Whether rows were copied without a join. */
  private def copies(
      path: String,
      source: String = Scattered,
      on: String = "t.k = s.k",
      clauses: String = Upsert,
      fails: Option[String] = None): Boolean = isSaid(Copied, path, source, on, clauses, fails)

  test("rows that match nothing aren't shuffled where files are rewritten") {
    assert(shuffled(withoutVectors, Upsert, isPruned = false) > 600)
    assert(shuffled(withoutVectors, Upsert, isPruned = true) < 300)
  }

  test("they stay with the rows that they were with") {
    def filesOfFirst(isPruned: Boolean): Long = {
      val path = copyOf(withoutVectors)
      withSettings(
        "spark.zcube.mergeInto.pruning" -> isPruned.toString,
        "spark.sql.shuffle.partitions" -> "6",
        "spark.sql.adaptive.enabled" -> "false",
        "spark.sql.files.openCostInBytes" -> "20000000"
      )(merge(Scattered, "t.k = s.k", Upsert)(path))
      spark.read.format("delta").load(path).where("id < 80 AND v != 'new'")
        .select(input_file_name()).distinct().count()
    }
    assert(filesOfFirst(isPruned = true) == 1)
    assert(filesOfFirst(isPruned = false) == 6)
  }

  test("the rows are Delta's, whatever the source is") {
    assert(copies(withoutVectors))
    assert(copies(withoutVectors, s"SELECT * FROM delta.`$scattered`"))
    assert(copies(
      withoutVectors,
      s"SELECT k * 4 AS k, v FROM delta.`$withoutVectors` WHERE k < 150"))
    // None of its rows matches; all of them do.
    assert(!copies(withoutVectors, "SELECT id - 40 AS k, 'new' AS v FROM range(30)"))
    assert(copies(withoutVectors, "SELECT id * 29 + 1 AS k, 'new' AS v FROM range(20)"))
  }

  for ((name, properties) <- Seq(
      "change rows, row ids and mapped columns" -> Seq(
        "'delta.enableChangeDataFeed' = 'true'",
        "'delta.enableRowTracking' = 'true'",
        "'delta.columnMapping.mode' = 'name'"),
      "row ids" -> Seq("'delta.enableRowTracking' = 'true'")
    )) test(s"$name are those of Delta") {
    val path = table("BIGINT", "id", properties, vectors = false)
    assert(copies(path))
    assert(copies(
      path,
      clauses =
        "WHEN MATCHED AND s.k > 200 THEN DELETE WHEN MATCHED AND t.p = 1 THEN UPDATE SET id = t.id + 1 " +
          "WHEN NOT MATCHED AND s.k < 700 THEN INSERT (k, v) VALUES (s.k, s.v)"
    ))
  }

  test("rows keep their ids, and those that are copied the version of their last change") {
    val path =
      table("BIGINT", "id", Seq("'delta.enableRowTracking' = 'true'"), vectors = false)
    def tracked(isPruned: Boolean): Seq[String] = {
      val copy = copyOf(path)
      withSettings(
        "spark.zcube.mergeInto.pruning" -> isPruned.toString,
        // The parts of the plan share ids.
        "spark.sql.planChangeValidation" -> "true"
      )(merge(Scattered, "t.k = s.k", Upsert)(copy))
      spark.read.format("delta").load(copy).where("id IS NOT NULL")
        .selectExpr("id", "v", "_metadata.row_id", "_metadata.row_commit_version")
        .collect().map(_.toString).toSeq.sorted
    }
    val (pruned, plain) = (tracked(isPruned = true), tracked(isPruned = false))
    assert(plain.size == 600 && plain.count(_.endsWith(",2]")) == 21)
    assert(pruned == plain)
  }

  test("so they are in a table that has deletion vectors and makes no more of them") {
    val path = table("BIGINT", "id", Seq("'delta.enableChangeDataFeed' = 'true'"))
    spark.sql(s"DELETE FROM delta.`$path` WHERE id % 7 = 1")
    spark.sql(
      s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')")
    assert(copies(path))
  }

  test("keys that are equal and not the same match, and NULLs by <=> only") {
    val doubles = table(
      "DOUBLE",
      "CASE WHEN id % 40 = 0 THEN 'NaN' WHEN id % 40 = 1 THEN '-0.0' WHEN id % 40 = 2 THEN NULL " +
        "ELSE CAST(id AS STRING) END",
      vectors = false
    )
    val of =
      "SELECT CAST(k AS DOUBLE) AS k, k AS v, p FROM VALUES ('0.0', 1), ('NaN', 0), (NULL, 0), ('8', 0) AS s(k, p)"
    val clauses = "WHEN MATCHED AND t.id % 3 = 0 THEN UPDATE SET v = s.v " +
      "WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (-1, s.k, s.v)"
    for (on <- Seq("t.k = s.k", "s.k <=> t.k").map(_ + " AND t.p = s.p"))
      assert(copies(doubles, of, on, clauses), on)
  }

  test("parts of ON that aren't equalities are left to Delta's join") {
    assert(copies(
      withoutVectors,
      on = "t.k = s.k AND t.id >= 200 AND s.v = 'new' AND t.id < s.k + 10"))
    val twice = s"$Scattered UNION ALL SELECT 29 AS k, 'second' AS v"
    // The error of a row that matches twice.
    assert(!copies(withoutVectors, twice, fails = Some(KeyedTables.Twice)))
    // Rows that are deleted may match twice.
    val deletes = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
    assert(copies(withoutVectors, twice, clauses = deletes))
    // For change rows, Delta then numbers all rows, and counts what it deletes twice.
    val changes =
      table("BIGINT", "id", Seq("'delta.enableChangeDataFeed' = 'true'"), vectors = false)
    withSettings("spark.databricks.delta.commandInvariantChecksThrow" -> "false")(
      assert(!copies(changes, twice, clauses = deletes)))
    assert(copies(changes, clauses = deletes))
  }

  test("decimals that were widened are compared as in Delta's join") {
    val path =
      table("DECIMAL(5,2)", "id", Seq("'delta.enableTypeWidening' = 'true'"), vectors = false)
    spark.sql(s"ALTER TABLE delta.`$path` ALTER COLUMN k TYPE DECIMAL(18,2)")
    val limit = "CAST(40000000 AS DECIMAL(18,2))"
    val source = stored(
      "SELECT CAST(id * 29 AS DECIMAL(17,2)) AS a, CAST(0 AS DECIMAL(17,2)) AS b, 'new' AS v " +
        "FROM range(30)")
    assert(copies(
      path,
      s"SELECT * FROM delta.`$source` WHERE a + b < $limit",
      "t.k = s.a + s.b AND t.id >= -s.a",
      "WHEN MATCHED THEN UPDATE SET v = s.v " +
        "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.a + s.b, concat(s.v, ' inserted'))"
    ))
  }

  test("what can't be computed for a row without a match isn't, unless Delta does") {
    val source = "SELECT id * 29 AS k, IF(id < 99, id, NULL) AS n, 'new' AS v FROM range(30)"
    def clauses(condition: String) =
      s"WHEN MATCHED AND ($condition) THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
    // For each row, also those to insert, the first part decides.
    for (condition <- Seq(
        "coalesce(t.p, 0) < 9 OR 100 DIV coalesce(s.n, 0) > 1",
        "coalesce(t.p, 0) < 0 AND CAST(coalesce(s.v, 'x') AS INT) > 5"))
      assert(copies(withoutVectors, source, clauses = clauses(condition)), condition)
    // For some, Delta evaluates it, too.
    compared(withoutVectors, fails = Some("DIVIDE_BY_ZERO"))(
      merge(source, "t.k = s.k", clauses("t.p = 1 OR 100 DIV coalesce(s.n, 0) > 1")))
  }

  test("a condition of WHEN MATCHED isn't computed for rows that match nothing") {
    // One column depends on the condition, as the update changes nothing.
    val update = "WHEN MATCHED AND 100 DIV IF(t.id % 29 = 0, 1, 0) > 1 THEN UPDATE SET v = t.v"
    for (matched <- Seq(update, s"WHEN MATCHED AND t.p = 0 THEN UPDATE SET v = t.v $update"))
      assert(copies(
        withoutVectors,
        s"SELECT * FROM delta.`$scattered`",
        clauses = s"$matched WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"))
  }

  test("a source may have a column twice") {
    val from = s"FROM delta.`$scattered`"
    for (source <- Seq(s"SELECT *, k $from", s"SELECT *, v $from"))
      assert(
        isSaid("a column of the source comes twice", withoutVectors, source, "t.k = s.k", Upsert))
    assert(copies(withoutVectors, s"SELECT k, v, v AS w $from"))
  }

  test("a value that is absent is NULL in generated code, too, and isn't computed in advance") {
    val types = Seq(
      BooleanType,
      ByteType,
      IntegerType,
      LongType,
      DoubleType,
      DecimalType(30, 2),
      StringType,
      BinaryType,
      DateType,
      TimestampType,
      NullType,
      StringType("UTF8_LCASE"),
      VariantType,
      CalendarIntervalType,
      DayTimeIntervalType(),
      ArrayType(IntegerType),
      MapType(StringType, LongType),
      StructType.fromDDL("a INT")
    )
    for (of <- types) {
      val values = Seq(AbsentValue(of), IsNull(AbsentValue(of)))
      for (made <- Seq(
          InterpretedUnsafeProjection.createProjection(values),
          GenerateUnsafeProjection.generate(values))) {
        val row = made(InternalRow.empty)
        assert(row.isNullAt(0) && row.getBoolean(1), of)
      }
      assert(values.forall(!_.foldable), of)
    }
  }

  test("all rows are joined where that costs less, or where a scan may return others") {
    // A key that half of the rows have.
    assert(!copies(withoutVectors, "SELECT 1 AS k, 'new' AS v", "t.p = s.k AND t.id > s.k"))
    for (setting <- Seq("ignoreMissingFiles", "ignoreCorruptFiles"))
      withSettings(s"spark.sql.files.$setting" -> "true")(assert(!copies(withoutVectors)))
    for ((key, value) <- Seq(
        "spark.sql.autoBroadcastJoinThreshold" -> "-1",
        "spark.zcube.mergeInto.pruning" -> "false"))
      withSettings(key -> value)(assert(!copies(withoutVectors)))
    assert(!copies(withoutVectors, clauses = s"$Upsert WHEN NOT MATCHED BY SOURCE THEN DELETE"))
    assert(!copies(withoutVectors, clauses = "WHEN MATCHED THEN UPDATE SET v = s.v"))
  }

  test("a file with most rows that match doesn't decide for all, in a sample or not") {
    val files = DeltaLog.forTable(spark, withoutVectors).update().allFiles.collect().toSeq
    val hot = MatchingRows.sampleOf(files).last
    val rows = spark.read.format("delta").load(withoutVectors)
      .where(input_file_name().endsWith(hot.path)).selectExpr("min(id)", "max(id)").head()
    val (first, last) = (rows.getLong(0), rows.getLong(1))
    assert(last - first > 90)
    // More than half of the sample's rows, and a sixth of all.
    val others = s"SELECT id * 40, 'new' FROM range(15) WHERE id * 40 NOT BETWEEN $first AND $last"
    assert(copies(
      withoutVectors,
      s"SELECT id, 'new' AS v FROM range($first, ${last + 1}) UNION ALL $others",
      "t.k = s.id",
      Upsert.replace("s.k", "s.id")))
    // Few keys, of which each has ten rows.
    val few = "SELECT id * 10 AS k, 'new' AS v FROM range(60)"
    assert(!copies(withoutVectors, few, "t.id - t.id % 10 = s.k AND t.k >= 0"))
  }

  test("no keys are read where files may be left out of a scan, or without the rule") {
    def readsKeys(): Boolean = {
      val path = copyOf(withoutVectors)
      SparkEvents.jobsOf(spark.sparkContext)(merge(Scattered, "t.k = s.k", Upsert)(path))._2
        .exists(_.contains("keys of the source, to be broadcast"))
    }
    assert(readsKeys())
    for (setting <- Seq(
        "spark.sql.files.ignoreMissingFiles" -> "true",
        "spark.sql.optimizer.excludedRules" -> s"a.b , ${SplitOuterJoin.ruleName}"))
      withSettings(setting)(assert(!readsKeys(), setting))
  }

  test("a column of any kind is copied, in a table with partitions too") {
    val path = create(
      "(id BIGINT, k BIGINT, p INT, v STRING, o VARIANT, n STRUCT<a: BIGINT, b: ARRAY<STRING>>) " +
        "USING delta PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'false')",
      6,
      "id"
    )(
      "id",
      "id AS k",
      "CAST(id % 2 AS INT) AS p",
      "concat_ws(' ', md5(CAST(id AS STRING)), sha2(CAST(id AS STRING), 512)) AS v",
      "parse_json(concat('{\"a\": ', id, '}')) AS o",
      "IF(id % 3 = 0, NULL, named_struct('a', id, 'b', array(CAST(id AS STRING), NULL))) AS n"
    )
    assert(copies(path))
  }

  test("the log names the table") {
    val path = copyOf(withoutVectors)
    val lines = LogLines.of("io.zcube.merge")(merge(Scattered, "t.k = s.k", Upsert)(path))
    assert(lines.filter(_.contains("without a join")).forall(_.contains(s"$path: MERGE: ")))
    assert(lines.count(_.contains(Copied)) == 1)
  }

  test("where the keys aren't used, they change neither rows nor Spark's estimate of their size") {
    val (rows, keys) = (spark.range(100), spark.range(1000).selectExpr("id AS k"))
    val Seq(left, right) = Seq(rows, keys).map(_.queryExecution.analyzed)
    val node = TargetWithKeys(left, right, EqualTo(left.output.head, right.output.head), "t")
    assert(node.stats == left.stats)
    val found = Sessions.rowsOf(spark.asInstanceOf[SparkSession], node)
    assert(found.collect().map(_.getLong(0)).sorted.toSeq == (0L until 100L))
  }

  test("without the rule, Delta joins all rows") {
    withSettings("spark.sql.optimizer.excludedRules" -> SplitOuterJoin.ruleName) {
      assert(shuffled(withoutVectors, Upsert, isPruned = true) > 600)
      assert(!copies(withoutVectors))
    }
  }
}

object SplitOuterJoinSuite {

  /** What the log then says. */
  val Copied = "are copied without a join"
}
