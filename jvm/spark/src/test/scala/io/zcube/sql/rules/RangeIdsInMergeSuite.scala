package io.zcube.sql.rules

import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.catalog.InMemoryRowLevelOperationTableCatalog
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession

/** MERGE by Spark itself, as into Iceberg's tables; Spark's table in memory stands for them. */
class RangeIdsInMergeSuite extends AnyFunSuite with ZCubeSparkSession {

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

    test(s"a DELETE that writes $way by ids of a subquery finds every match") {
      withTable(properties: _*) {
        spark.sql(s"DELETE FROM memory.t WHERE pk IN (SELECT r FROM ($ids) WHERE pk >= 4)")
        assert(rows === Seq(Row(0L, -1), Row(1L, -1)))
      }
    }
  }
}
