package io.zcube.sql.parser

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.parser.ParseException
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession

class StatementFormSuite extends AnyFunSuite with ZCubeSparkSession {

  for ((sql, form) <- Seq(
      "RECOMMEND CLUSTERING t" -> "RECOMMEND CLUSTERING table FOR 'query'",
      "recommend /* */ clustering t FOR x = 1" -> "RECOMMEND CLUSTERING table FOR 'query'",
      "DESCRIBE CLUSTERING t BY (a" -> "DESCRIBE CLUSTERING table [BY",
      "OPTIMIZE t OPTIONS ('curve' 'hilbert')" -> "[OPTIONS ('key' = 'value', …)]",
      "OPTIMIZE t OPTIONS ('curve' = 'hilbert') ZORDER BY (x)" -> "[OPTIONS ('key' = 'value', …)]",
      "OPTIMIZE t DRY RUN ZORDER BY (x)" -> "[DRY RUN]"
    ))
    test(s"an error that has the statement's form: $sql") {
      val refusal = intercept[Exception](spark.sql(sql))
      assert(refusal.asInstanceOf[SparkThrowable].getCondition === "ZCUBE_NOT_OF_THE_FORM")
      assert(refusal.getMessage.contains(form))
      assert(refusal.getCause.isInstanceOf[ParseException])
    }

  test("others have Spark's error, and a table may be named clustering") {
    for (sql <- Seq("OPTIMIZE t ZORDER BY x y z", "RECOMMEND", "SELECT 1 FROM (OPTIONS)) DRY RUN"))
      intercept[ParseException](spark.sql(sql))
    spark.range(1).createOrReplaceTempView("clustering")
    assert(spark.sql("DESCRIBE clustering").collect().map(_.getString(0)) === Array("id"))
  }
}
