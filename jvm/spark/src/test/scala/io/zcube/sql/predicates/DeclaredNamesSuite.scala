package io.zcube.sql.predicates

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession

class DeclaredNamesSuite extends AnyFunSuite with ZCubeSparkSession {

  private def resolved(text: String, table: LocalRelation): Expression = {
    val state = spark.asInstanceOf[SparkSession].sessionState
    state.executePlan(Filter(state.sqlParser.parseExpression(text), table)).analyzed
      .collectFirst { case Filter(condition, _) => condition }.get
  }

  private def tableOf(columns: String): LocalRelation =
    LocalRelation(toAttributes(StructType.fromDDL(columns)))

  test("columns and fields get the table's spelling, and what has it stays the same") {
    val table = tableOf("userId BIGINT, place STRUCT<City: STRING, street: STRUCT<No: INT>>, " +
      "tags ARRAY<STRUCT<Key: STRING>>")
    for (declared <- Seq(
        "userId = 5",
        "userId BETWEEN 3 AND 7 OR userId IS NULL",
        "place.City = 'Bonn' AND place.street.No > 3",
        "place['City'] LIKE 'B%'",
        "array_contains(tags.Key, 'k')",
        "tags[0].Key = 'k'"
      )) {
      val own = resolved(declared, table)
      assert(DeclaredNames.in(own, table.output).sql === own.sql)
      for (other <- Seq(declared.toLowerCase, declared.toUpperCase)) {
        // Constants, too, are in another case.
        val spelled = resolved(other, table)
        val renamed = DeclaredNames.in(spelled, table.output)
        assert(renamed.sql.equalsIgnoreCase(own.sql) && renamed.sql != spelled.sql)
        assert(PredicateReader.paths(renamed) === PredicateReader.paths(own))
      }
    }
  }

  test("where case matters, columns that differ only by it stay apart") {
    spark.conf.set("spark.sql.caseSensitive", "true")
    try {
      val table = tableOf("x INT, X INT, s STRUCT<v: INT, V: INT>")
      val condition = resolved("x = 1 AND X = 2 AND s.v = 3 AND s.V = 4", table)
      assert(DeclaredNames.in(condition, table.output) === condition)
      assert(DeclaredNames.in(condition, table.output).sql === condition.sql)
    } finally spark.conf.unset("spark.sql.caseSensitive")
  }

  test("zcube.cluster finds its columns in a workload that spells them differently") {
    val hint = """/*+ ZCUBE_CLUSTER('{"columns": [["userID"], ["p", "CITY"]], "curve": "kdtree",
      | "numPartitions": 2, "workload": ["USERid < 20", "P.city = 1"]}') */""".stripMargin
    val rows =
      spark.sql(s"SELECT $hint id userId, named_struct('City', id % 3) p FROM range(100)")
    val parts = rows.selectExpr("userId", "spark_partition_id()").collect()
    assert(parts.filter(_.getLong(0) < 20).map(_.getInt(1)).distinct.length === 1)
  }
}
