package io.zcube.sql

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Causes

class SettingsSuite extends AnyFunSuite with ZCubeSparkSession {

  override protected def settings: Map[String, String] = Map("spark.zcube.enabled" -> "no")

  test("a session with a wrong setting doesn't start, and the error names it") {
    val error = intercept[IllegalArgumentException](spark.sql("SELECT 1"))
    assert(Causes.of(error).exists(e =>
      String.valueOf(e.getMessage).contains("spark.zcube.enabled")))
  }
}
