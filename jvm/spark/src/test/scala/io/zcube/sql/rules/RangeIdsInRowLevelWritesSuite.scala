package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.expressions.Exists
import org.apache.spark.sql.catalyst.plans.logical.RowLevelWrite
import org.apache.spark.sql.connector.catalog.InMemoryRowLevelOperationTableCatalog
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{Assertion, Inspectors}

import io.zcube.sql.ZCubeSparkSession

/** MERGE, UPDATE and DELETE by Spark itself, as of Iceberg's tables; Spark's table in memory stands
  * for them.
  */
class RangeIdsInRowLevelWritesSuite extends AnyFunSuite with ZCubeSparkSession with Inspectors {

  override protected def settings: Map[String, String] =
    Map("spark.sql.catalog.memory" -> classOf[InMemoryRowLevelOperationTableCatalog].getName)

  private val ids = "SELECT id AS pk, range_partition_id(id, 4) AS r FROM range(8)"

  /** Keys 0 to 3, each a group of rows. Without groups the table finds rows by their `pk`. */
  private def withTable(properties: String*)(test: => Assertion): Assertion = {
    val all = if (properties.isEmpty) "" else s"TBLPROPERTIES (${properties.mkString(", ")})"
    spark.sql(s"CREATE TABLE memory.t (pk BIGINT NOT NULL, r INT) PARTITIONED BY (pk) $all")
    try {
      spark.sql("INSERT INTO memory.t SELECT id, -1 FROM range(4)")
      test
    } finally {
      val _ = spark.sql("DROP TABLE memory.t")
    }
  }

  test("the copy of a MERGE's source is dropped before the optimizer, too") {
    // Spark 4.0 makes it after the other rules.
    assert(spark.sessionState.planNormalizationRules.contains(DropCopyOfSource))
  }

  private def rows: Seq[Row] = spark.sql("SELECT pk, r FROM memory.t ORDER BY pk").collect().toSeq

  for ((way, properties) <- Seq(
      "groups of rows" -> Nil,
      "single rows" -> Seq("'supports-deltas' = 'true'"))) {

    test(s"a MERGE that writes $way takes ids from its source") {
      withTable(properties: _*) {
        spark.sql(s"""MERGE INTO memory.t USING ($ids) AS s ON t.pk = s.pk
          WHEN MATCHED THEN UPDATE SET r = s.r WHEN NOT MATCHED THEN INSERT *""")
        assert(rows === (0 until 8).map(k => Row(k.toLong, k / 2)))
      }
    }

    test(s"a MERGE that writes $way by ids finds every match") {
      withTable(properties: _*) {
        spark.sql(s"""MERGE INTO memory.t USING (SELECT * FROM ($ids) WHERE pk % 2 = 0) AS s
          ON t.pk = s.r WHEN MATCHED THEN UPDATE SET r = s.pk""")
        assert(rows === (0 until 4).map(k => Row(k.toLong, 2 * k)))
      }
    }

    test(s"a MERGE that writes $way by ids of a common table or a subquery finds every match") {
      forEvery(Seq(
        s"WITH ids AS ($ids), evens AS (SELECT * FROM ids WHERE pk % 2 = 0)" -> "evens",
        "" -> s"(SELECT id AS r, id * 2 AS pk FROM range(9) WHERE id IN (SELECT r FROM ($ids)))"
      )) { case (tables, source) =>
        withTable(properties: _*) {
          val merge = spark.sql(s"""$tables MERGE INTO memory.t USING $source AS s
            ON t.pk = s.r WHEN MATCHED THEN UPDATE SET r = s.pk""")
          val analyzed = DropCopyOfSource(merge.queryExecution.analyzed)
          assert(!analyzed.exists {
            case write: RowLevelWrite => write.expressions.exists(_.exists(_.isInstanceOf[Exists]))
            case _ => false
          })
          assert(rows === (0 until 4).map(k => Row(k.toLong, 2 * k)))
        }
      }
    }

    // A row could match the condition in one place and not in the other, and be lost or doubled.
    for (statement <- Seq("DELETE FROM memory.t", "UPDATE memory.t SET r = 0"))
      test(s"ids in WHERE of ${statement.take(6)} are rejected where it writes $way") {
        withTable(properties: _*) {
          for ((where, reason) <- Seq(
              s"pk IN (SELECT r FROM ($ids) WHERE pk >= 4)" -> "REPEATED",
              "range_partition_id(pk, 4) = 0" -> "COMMAND")) {
            val error = intercept[AnalysisException](spark.sql(s"$statement WHERE $where"))
            assert(error.getCondition === s"ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.$reason")
          }
          assert(rows === (0 until 4).map(k => Row(k.toLong, -1)))
        }
      }
  }
}
