package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.delta.DeltaLog
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.errors.ZCubeExecutionException

/** Values so long that almost none fit into what tasks may send. */
class LongValuesSuite extends AnyFunSuite with DeltaSparkSession {

  override protected def settings: Map[String, String] = Map("spark.driver.maxResultSize" -> "2m")

  test("a sample that is too small to separate files is an error, not one huge file") {
    val path = folder.resolve("long").toString
    val text = "concat(hex(hash(id)), repeat('x', 40000))"
    spark.range(0, 120, 1, 60).selectExpr("id", s"$text AS s").write
      .format("delta").option("delta.dataSkippingStatsColumns", "s").save(path)
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", "2000")
    val error = intercept[ZCubeExecutionException](
      spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (s)").collect())
    assert(error.getCondition === "ZCUBE_SAMPLE_TOO_SMALL.OPTIMIZE")
    assert(DeltaLog.forTable(spark, path).update().version === 0)
  }

  test("zcube.cluster fails as OPTIMIZE does if too few rows fit into the sample") {
    val path = folder.resolve("rows").toString
    spark.range(0, 120, 1, 60)
      .selectExpr("id", "concat(hex(hash(id)), repeat('x', 40000)) AS s").write.parquet(path)
    // A task for each file, as there are many.
    spark.conf.set("spark.sql.files.openCostInBytes", "128m")
    val error = intercept[ZCubeExecutionException](
      spark.read.parquet(path)
        .hint("zcube_cluster", """{"columns": [["s"]], "numPartitions": 100}""").collect())
    assert(error.getCondition === "ZCUBE_SAMPLE_TOO_SMALL.CLUSTER")
  }

  test("a hint without a value is refused by name") {
    val error = intercept[org.apache.spark.SparkThrowable](
      spark.range(1).hint("zcube_cluster", null.asInstanceOf[String]).collect())
    assert(error.getCondition === "ZCUBE_INVALID_OPTION")
  }
}
