package io.zcube.sql.rules

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession

/** A hint that Spark would ignore, or that means two things, is an error. */
class ResolveClusterHintSuite extends AnyFunSuite with ZCubeSparkSession {

  private def partitionsOf(hint: String): Int =
    spark.sql(s"SELECT /*+ $hint */ id AS x, id AS y FROM range(100)").queryExecution.toRdd
      .getNumPartitions

  /** The option that is invalid, its value, and what it must be. */
  private def invalid(hint: String): (String, String, String) = {
    val error = intercept[AnalysisException](partitionsOf(hint))
    assert(error.getCondition == "ZCUBE_INVALID_OPTION")
    val parameters = error.getMessageParameters
    (parameters.get("option"), parameters.get("value"), parameters.get("expected"))
  }

  private val expected = "one text with a JSON object"

  test("the hint takes one text, in any case of its name") {
    for (name <- Seq("ZCUBE_CLUSTER", "zcube_cluster", "ZCube_Cluster"))
      assert(partitionsOf(s"""$name('{"columns": [["x"]], "numPartitions": 3}')""") == 3)
  }

  test("columns, several texts, none, and other values are refused") {
    assert(invalid("ZCUBE_CLUSTER(x, y)") == (("zcube_cluster", "x, y", expected)))
    assert(invalid("ZCUBE_CLUSTER") == (("zcube_cluster", "", expected)))
    assert(invalid("ZCUBE_CLUSTER('a', 'b')") == (("zcube_cluster", "'a', 'b'", expected)))
    assert(invalid("ZCUBE_CLUSTER(5)") == (("zcube_cluster", "5", expected)))
    assert(invalid("ZCUBE_CLUSTER('[1]')") == (("zcube_cluster", "[1]", expected)))
    assert(invalid("ZCUBE_CLUSTER('x, y')") == (("zcube_cluster", "x, y", expected)))
  }

  test("an option that is given twice is refused") {
    val twice = """{"columns": [["x"]], "numPartitions": 3, "numPartitions": 4}"""
    assert(invalid(s"ZCUBE_CLUSTER('$twice')") ==
      (("zcube_cluster", twice, "an object with one numPartitions")))
  }

  test("a number of partitions and a size of files are not given both") {
    val both = """{"columns": [["x"]], "numPartitions": 3, "targetFileBytes": 1000}"""
    assert(invalid(s"ZCUBE_CLUSTER('$both')") ==
      (("targetFileBytes", "1000", "absent if numPartitions is given")))
    val one = """{"columns": [["x"]], "numPartitions": 3, "targetFileBytes": null}"""
    assert(partitionsOf(s"ZCUBE_CLUSTER('$one')") == 3)
  }

  test("more partitions than a job can write are refused") {
    for (number <- Seq("1000001", "3000000000", "0", "1.5")) {
      val many = s"""{"columns": [["x"]], "numPartitions": $number}"""
      assert(invalid(s"ZCUBE_CLUSTER('$many')") ==
        (("numPartitions", number, "an INT from 1 to 1000000")))
    }
  }

  test("a weight must be a number that a DOUBLE can hold") {
    def weighted(weight: String) =
      """ZCUBE_CLUSTER('{"columns": [["x"], ["y"]], "curve": "kdtree", "numPartitions": 3, """ +
        s""""weights": [1, $weight]}')"""
    assert(partitionsOf(weighted("1000")) == 3)
    val huge = "1" + "0" * 400
    assert(invalid(weighted(huge)) == (("weights", huge, "a number greater than 0")))
    assert(invalid(weighted("0")) == (("weights", "0", "a number greater than 0")))
  }
}
