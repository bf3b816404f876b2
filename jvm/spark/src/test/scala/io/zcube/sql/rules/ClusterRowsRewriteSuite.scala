package io.zcube.sql.rules

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession

/** The number of files that a target size makes of rows, whatever size Spark takes for unknown ones. */
class ClusterRowsRewriteSuite extends AnyFunSuite with ZCubeSparkSession {

  private val hint = """{"columns": [["id"]], "targetFileBytes": 100000}"""

  private def files(rows: DataFrame): Int =
    rows.hint("ZCUBE_CLUSTER", hint).queryExecution.toRdd.getNumPartitions

  private def isUnknown(rows: DataFrame): Boolean = {
    def condition = intercept[AnalysisException](files(rows)).getCondition
    condition == "ZCUBE_CLUSTER_INPUT_SIZE_UNKNOWN"
  }

  for (size <- Seq(Long.MaxValue, 10000L)) test(s"unknown sizes count as $size bytes") {
    spark.conf.set("spark.sql.defaultSizeInBytes", size)
    val known = spark.range(0, 100000, 1, 2)
    // RDDs have none.
    def ofRdd(rows: DataFrame) = spark.createDataFrame(rows.rdd, rows.schema)
    val unknown = ofRdd(spark.range(100).toDF())
    val wide = ofRdd(spark.range(100).selectExpr("id", "id AS a", "id AS b"))
    assert(files(known.toDF()) === 8)
    assert(isUnknown(unknown))
    assert(isUnknown(unknown.union(known.toDF())))
    assert(isUnknown(unknown.selectExpr("id + 1 AS id").where("id > 5")))
    assert(isUnknown(wide.select("id")))
    assert(files(unknown.limit(10)) === 1)
    assert(files(known.join(unknown, Seq("id"), "left_semi")) === 8)
    // Larger than any size.
    val large = spark.range(1L << 40)
    assert(isUnknown(large.crossJoin(large.toDF("other"))))
  }
}
