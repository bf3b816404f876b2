package io.zcube.sql.rules

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession
import io.zcube.sql.errors.ZCubeExecutionException

/** Range ids of values so long that few fit into a sample. */
class RangeIdsOfLongValuesSuite extends AnyFunSuite with ZCubeSparkSession {

  // A sample may have 640 KiB.
  override protected def settings: Map[String, String] = Map("spark.driver.maxResultSize" -> "5m")

  private def rows(count: Long, s: String): DataFrame =
    spark.range(0, count, 1, 4).selectExpr("id", s"$s AS s")

  private val distinct = "concat(hex(hash(id)), repeat('x', 10000))"

  private def idsOf(rows: DataFrame, ranges: Int): Array[Int] =
    rows.selectExpr("id", s"range_partition_id(s, $ranges) r").orderBy("id").select("r")
      .collect().map(_.getInt(0))

  private def messageOf(rows: DataFrame, ranges: Int): String = {
    val error = intercept[ZCubeExecutionException](idsOf(rows, ranges))
    assert(error.getCondition == "ZCUBE_SAMPLE_TOO_SMALL.RANGES")
    error.getMessage
  }

  test("more ranges than rows in the sample are an error") {
    val message = messageOf(rows(1000, distinct), 500)
    assert(message.contains("rows of (s) fit into a sample") && message.contains("500 ranges"))
    assert(idsOf(rows(1000, distinct), 20).distinct.length == 20)
  }

  test("so are values of which none fits, even if they are equal") {
    assert(messageOf(rows(10, "repeat('x', 1000000)"), 2).contains("Only 0 rows"))
  }

  test("a few values are all in a sample, however long they are") {
    val few = "concat(id % 5, repeat('x', 10000))"
    assert(idsOf(rows(1000, few), 500).toSeq == (0 until 1000).map(_ % 5))
    val orNull = "IF(id % 2 = 0, NULL, concat(id % 5, repeat('x', 10000)))"
    assert(idsOf(rows(1000, orNull), 500).distinct.length == 5)
  }

  test("fewer rows than ranges are no error") {
    assert(idsOf(rows(30, distinct), 500).distinct.length == 30)
    assert(idsOf(rows(0, distinct), 500).isEmpty)
  }
}
