package org.apache.spark.sql.delta.zcube.merge

import java.io.{ByteArrayOutputStream, ObjectOutputStream}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.scheduler.{SparkListener, SparkListenerEvent}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.catalyst.plans.physical.IdentityBroadcastMode
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zcube.{Sessions, SparkEvents}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

/** MERGE that leaves rows without a key of the source out of Delta's join: into tables with deletion
  * vectors, or if it only inserts. Compared with plain Delta on a copy of the same table.
  */
class MatchingRowsSuite extends AnyFunSuite with KeyedTables {
  import MatchingRowsSuite._

  /** Whether rows were left out. */
  private def leavesOut(
      path: String,
      source: String = Scattered,
      on: String = "t.k = s.k",
      clauses: String = Upsert,
      fails: Option[String] = None): Boolean = isSaid(LeftOut, path, source, on, clauses, fails)

  for ((name, table, clauses) <- Seq(
      ("changed with deletion vectors", () => plain, Upsert),
      ("only inserted", () => withoutVectors, InsertOnly)
    )) test(s"rows that match nothing aren't shuffled where others are $name") {
    assert(shuffled(table(), clauses, isPruned = false) > 600)
    assert(shuffled(table(), clauses, isPruned = true) < 300)
  }

  test("the keys are read before the join, in which a slow source could time out") {
    val plans = new ConcurrentLinkedQueue[String]
    val listener = new SparkListener {
      override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
        case start: SparkListenerSQLExecutionStart =>
          plans.add(start.physicalPlanDescription): Unit
        case _ =>
      }
    }
    val path = copyOf(withoutVectors)
    SparkEvents.within(spark.sparkContext, listener) {
      merge(s"SELECT * FROM delta.`$scattered`", "t.k = s.k", InsertOnly)(path)
    }
    val joins = plans.asScala.filter(_.contains("LeftSemi"))
    assert(joins.size == 1)
    assert(joins.head.contains("BroadcastHashJoin LeftSemi"))
    // Of the target, and of Delta's join with the source.
    val scans = raw"\(\d+\) (Scan parquet|KeyRows)".r.findAllMatchIn(joins.head)
    assert(scans.map(_.group(1)).toSeq.sorted == Seq(
      "KeyRows",
      "Scan parquet",
      "Scan parquet"))
  }

  test("what is broadcast are the rows, without a job that collects them") {
    val columns = spark.range(0).selectExpr("id", "CAST(id AS STRING) AS v")
    val row = UnsafeProjection.create(columns.schema)
    val rows = Seq(InternalRow(3L, null), InternalRow(null, UTF8String.fromString("needle")))
      .map(row(_).copy())
    val of = KeyRows(columns.queryExecution.analyzed.output.map(_.withNullability(true)), rows)
    val query = Sessions.rowsOf(spark.asInstanceOf[SparkSession], of)
    val plan = query.queryExecution.executedPlan
    val (sent, jobs) = SparkEvents.jobsOf(spark.sparkContext) {
      BroadcastExchangeExec(IdentityBroadcastMode, plan)
        .executeBroadcast[Array[InternalRow]]().value.toSeq
    }
    assert(sent == rows && jobs.isEmpty)
    assert(new String(serialized(plan)).indexOf("needle") < 0)
    assert(!query.queryExecution.toString.contains("needle"))
    // Where a plan doesn't broadcast them, they are rows like others.
    assert(query.union(query).where("v = 'needle' OR id = 3").count() == 4)
    assert(query.as("a").join(query.as("b"), expr("a.v = b.v")).count() == 1)
  }

  test("files are sampled by bytes, in the order of their sizes") {
    def sampled(sizes: Long*): Seq[(Long, String)] = {
      val count = sizes.size
      MatchingRows.sampleOf(sizes.zipWithIndex.toList.map { case (size, i) =>
        AddFile(f"${count - i}%06d", Map.empty, size, 0L, dataChange = true)
      }).map(file => file.size -> file.path)
    }
    def sizes(of: Long*) = sampled(of: _*).map(_._1)
    assert(sizes(50, 3, 41, 40, 42) == Seq(41, 50))
    assert(sizes(1, 2, 3, 1000) == Seq(1000) && sizes(5) == Seq(5))
    assert(sizes(10, 30) == Seq(30) && sizes(11, 30) == Seq(11, 30))
    // Small ones that have half of the bytes.
    assert(sizes(1L +: 500L +: Seq.fill(499)(1L): _*) == Seq(1, 500))
    // Of the same size, by path, whatever their order. A sample of so many takes no time to speak of.
    assert(sampled(Seq.fill(400000)(1L << 30): _*) ==
      Seq((1L << 30, "100001"), (1L << 30, "300001")))
  }

  private def serialized(value: AnyRef): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    Using.resource(new ObjectOutputStream(bytes))(_.writeObject(value))
    bytes.toByteArray
  }

  if (Night.all) test("strings that a collation treats as equal are left to Delta's join") {
    val source = "SELECT concat('k', id * 29) COLLATE UTF8_LCASE AS k, 'new' AS v FROM range(30)"
    withSettings("spark.databricks.delta.schema.typeCheck.enabled" -> "false") {
      val path = table("STRING COLLATE UTF8_LCASE", "concat('K', id)")
      assert(!leavesOut(path, source))
      assert(leavesOut(
        path,
        s"SELECT k, substring(k, 2) AS v FROM ($source)",
        "t.id = s.v AND t.k = s.k"))
    }
  }

  test(
    "they are left out of an upsert into a table with deletion vectors, whatever the source is") {
    assert(leavesOut(plain))
    assert(leavesOut(plain, s"SELECT * FROM delta.`${stored(Scattered)}`"))
    val more = Seq(
      // The target itself, in the version before.
      s"SELECT k * 4 AS k, v FROM delta.`$plain` WHERE k < 150"
    ) ++ Night.only("SELECT id * 29 AS k, CAST(id AS STRING) AS v FROM range(30) WHERE id > 10")
    for (source <- more) assert(leavesOut(plain, source), source)
  }

  test("of a MERGE that only inserts, too") {
    // Keys of different types, one of them NULL and one twice.
    val more = stored(s"$Scattered UNION ALL VALUES (NULL, 'null'), (-7, 'new'), (-7, 'again')")
    val of = s"SELECT * FROM delta.`$more`"
    for (path <- withoutVectors +: Night.only(plain)) {
      assert(leavesOut(path, of, clauses = InsertOnly))
      // Delta reads it only once, and doesn't materialize it.
      assert(!leavesOut(path, clauses = InsertOnly))
      val conditional = "WHEN NOT MATCHED AND s.k < 500 THEN INSERT (k, v) VALUES (s.k, s.v) " +
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.k, s.v)"
      for (on <- Seq("CAST(t.k AS INT) = s.k AND t.id >= s.k - 5", "t.k <=> s.k AND t.id < 400"))
        assert(leavesOut(path, of, on, conditional), on)
    }
    // Then Delta looks for files to rewrite, as for WHEN MATCHED.
    withSettings("spark.databricks.delta.merge.optimizeInsertOnlyMerge.enabled" -> "false") {
      assert(leavesOut(plain, of, clauses = InsertOnly))
      assert(!leavesOut(withoutVectors, of, clauses = InsertOnly))
    }
  }

  test("keys that are equal and not the same match, and NULLs by <=> only") {
    val doubles =
      table(
        "DOUBLE",
        "CASE id % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0.0' WHEN 2 THEN NULL ELSE CAST(id AS STRING) END")
    val of =
      "SELECT CAST(k AS DOUBLE) AS k, k AS v, p FROM VALUES ('0.0', 1), ('NaN', 0), (NULL, 1), ('8', 0) AS s(k, p)"
    val clauses = "WHEN MATCHED AND t.id % 3 = 0 THEN UPDATE SET v = s.v " +
      "WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (-1, s.k, s.v)"
    for (on <- Seq("t.k = s.k", "s.k <=> t.k").map(_ + " AND t.p = s.p"))
      assert(leavesOut(doubles, of, on, clauses), on)
  }

  for ((name, properties) <- Seq(
      "change rows, row ids and mapped columns" -> Seq(
        "'delta.enableChangeDataFeed' = 'true'",
        "'delta.enableRowTracking' = 'true'",
        "'delta.columnMapping.mode' = 'name'"))) test(s"$name are those of Delta") {
    val path = table("BIGINT", "id", properties)
    assert(leavesOut(path))
    assert(leavesOut(
      path,
      clauses =
        "WHEN MATCHED AND s.k > 200 THEN DELETE WHEN MATCHED THEN UPDATE SET id = t.id + 1 " +
          "WHEN NOT MATCHED AND s.k < 700 THEN INSERT (k, v) VALUES (s.k, s.v)"
    ))
  }

  test("parts of ON that aren't equalities are left to Delta's join") {
    assert(leavesOut(plain, on = "t.k = s.k AND t.id >= 200 AND s.v = 'new' AND t.id < s.k + 10"))
    assert(leavesOut(
      plain,
      on = "CAST(t.k AS INT) + 1 = s.k AND t.id >= s.k - 5 AND (t.id = 5 OR s.k != 59)"))
    val twice = s"$Scattered UNION ALL SELECT 29 AS k, 'second' AS v"
    assert(!leavesOut(plain, twice, fails = Some(KeyedTables.Twice)))
    assert(leavesOut(plain, twice, "t.k = s.k AND s.v = 'new'"))
  }

  test(
    "a filter of the source isn't applied to a target whose decimals were widened, nor the reverse") {
    def widened() = {
      val path = table("DECIMAL(5,2)", "id", Seq("'delta.enableTypeWidening' = 'true'"))
      spark.sql(s"ALTER TABLE delta.`$path` ALTER COLUMN k TYPE DECIMAL(18,2)")
      path
    }
    // Compared with files of 32 bits, whatever the limit's upper bits are.
    val limit = "CAST(40000000 AS DECIMAL(18,2))"
    val source = stored(
      "SELECT CAST(id * 29 AS DECIMAL(17,2)) AS a, CAST(0 AS DECIMAL(17,2)) AS b, 'new' AS v " +
        "FROM range(30)")
    val clauses = "WHEN MATCHED THEN UPDATE SET v = s.v " +
      "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.a + s.b, concat(s.v, ' inserted'))"
    val of = s"SELECT * FROM delta.`$source` WHERE a + b < $limit"
    assert(leavesOut(widened(), of, "t.k = s.a + s.b AND t.id >= -s.a", clauses))
    assert(leavesOut(widened(), of, "t.k = s.a + s.b AND t.id <= 600 + s.a", clauses))
  }

  test("a key that ON evaluates for some rows only isn't evaluated for others") {
    val path = create(
      "(id BIGINT, k BIGINT, x STRING, flag STRING, v STRING) USING delta TBLPROPERTIES " +
        "('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')",
      6,
      "id"
    )(
      "id",
      "id AS k",
      "IF(id % 2 = 0, CAST(id AS STRING), 'abc') AS x",
      "IF(id % 2 = 0, 'num', 'text') AS flag",
      "concat_ws(' ', md5(CAST(id AS STRING)), sha2(CAST(id AS STRING), 512)) AS v"
    )
    val on = "t.flag = 'num' AND CAST(t.x AS BIGINT) = s.k AND t.k = s.k"
    val clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"
    val once = "SELECT id * 30 AS k, 'new' AS v FROM range(25)"
    assert(leavesOut(path, once, on, clauses))
    assert(leavesOut(
      path,
      s"SELECT * FROM delta.`${stored(once)}`",
      on,
      "WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, s.v)"))
    // For changes, Delta then numbers the rows, and conditions stay above that.
    assert(!leavesOut(path, s"$once UNION ALL SELECT 30 AS k, 'twice' AS v", on, clauses))
  }

  test("what counts is the size of the source's keys in memory") {
    val path = table("STRING", "repeat('x', 2000) || id")
    val source = stored("SELECT repeat('x', 2000) || id * 29 AS k, 'new' AS v FROM range(30)")
    assert(!leavesOut(path, s"SELECT * FROM delta.`$source`", "t.k = s.k AND t.id >= 0"))
    // Also of several parts, each of which is below the limit.
    val parts = stored(
      "SELECT /*+ REPARTITION(6) */ repeat('x', 2000) || id * 29 AS k, 'new' AS v FROM range(30)")
    withSettings(
      "spark.sql.files.maxPartitionBytes" -> "1000",
      "spark.sql.files.openCostInBytes" -> "1000") {
      assert(!leavesOut(path, s"SELECT * FROM delta.`$parts`", "t.k = s.k AND t.id >= 0"))
      assert(leavesOut(
        path,
        s"SELECT * FROM delta.`$parts` WHERE k < repeat('x', 2000) || '3'",
        "t.k = s.k AND t.id >= 0"))
    }
    assert(leavesOut(path, s"SELECT * FROM delta.`$source` LIMIT 10", "t.k = s.k AND t.id >= 0"))
  }

  test("all rows are joined where it would save nothing, or might not be the same") {
    val without = Seq(
      // Spark can broadcast the source.
      () => leavesOut(plain, clauses = "WHEN MATCHED THEN UPDATE SET v = s.v"),
      // It must not.
      () =>
        leavesOut(
          plain,
          "SELECT id * 2 AS k, sha2(CAST(id AS STRING), 512) AS v FROM range(300)"),
      () => leavesOut(plain, on = "t.k BETWEEN s.k AND s.k + 2")
    ) ++ Night.only(
      // It can broadcast the files.
      () => leavesOut(plain, "SELECT id AS k, 'new' AS v FROM range(20)"),
      () => leavesOut(plain, on = "t.k = s.k OR t.id = s.k - 1"),
      () => leavesOut(withoutVectors),
      () => leavesOut(plain, clauses = s"$Upsert WHEN NOT MATCHED BY SOURCE THEN DELETE")
    )
    for ((applied, number) <- without.zipWithIndex) assert(!applied(), number)
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1")(assert(!leavesOut(plain)))
    withSettings("spark.zcube.mergeInto.pruning" -> "false")(assert(!leavesOut(plain)))
    // Spark would fail to broadcast the hash table, which has 64 MB for however few keys. Delta's join is
    // of a table's keys alone, of which few bytes are enough for many.
    def inserts() =
      leavesOut(withoutVectors, s"SELECT * FROM delta.`$scattered`", clauses = InsertOnly)
    withSettings(
      "spark.sql.autoBroadcastJoinThreshold" -> "5000",
      "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "-1") {
      assert(inserts())
      withSettings("spark.sql.maxBroadcastTableSize" -> "60m")(assert(!inserts()))
    }
    // Delta doesn't materialize a table of texts, which are read as JSON.
    val texts = stored(s"SELECT to_json(struct(*)) AS j FROM ($Scattered)")
    def parsed(of: String) = s"SELECT $of AS k, 'new' AS v FROM delta.`$texts`"
    assert(!leavesOut(plain, parsed("from_json(j, 'k BIGINT').k")))
    assert(leavesOut(plain, parsed("CAST(substring(j, 6, locate(',', j) - 6) AS BIGINT)")))
  }
}

object MatchingRowsSuite {

  /** What the log then says. */
  val LeftOut = "are left out of the join"

  private val InsertOnly =
    "WHEN NOT MATCHED THEN INSERT (id, k, v) VALUES (CAST(s.k AS BIGINT), s.k, s.v)"
}
