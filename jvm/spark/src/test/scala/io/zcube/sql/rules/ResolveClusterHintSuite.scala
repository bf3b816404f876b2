package io.zcube.sql.rules

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession

/** What the hint takes: whatever it doesn't is an error, as an unclustered table looks the same. */
class ResolveClusterHintSuite extends AnyFunSuite with ZCubeSparkSession {

  private def refused(arguments: String): Map[String, String] = {
    val error = intercept[AnalysisException](
      spark.sql(s"SELECT /*+ ZCUBE_CLUSTER($arguments) */ id FROM range(10)"))
    assert(error.getCondition === "ZCUBE_INVALID_OPTION", arguments)
    error.getMessageParameters.entrySet.toArray(Array.empty[java.util.Map.Entry[String, String]])
      .map(entry => entry.getKey -> entry.getValue).toMap
  }

  private def json(fields: String) = s"""'{"columns": [["id"]], $fields}'"""

  test("one text with a JSON object") {
    for (arguments <-
        Seq("id", "id, id", "5", "'no JSON'", s"${json("\"sort\": true")}, 'a'", "NULL"))
      refused(arguments)
    assert(
      spark.sql(s"SELECT /*+ zcube_Cluster(${json("\"numPartitions\": 3")}) */ id FROM range(10)")
        .rdd.getNumPartitions === 3)
  }

  test("a name twice") {
    assert(refused(json("\"curve\": \"zorder\", \"curve\": \"hilbert\"")).values.exists(
      _.contains("one 'curve'")))
  }

  test("numbers of partitions that no driver could hold, and a target size beside a number") {
    for (fields <- Seq(
        "\"numPartitions\": 0",
        "\"numPartitions\": 2000000000",
        "\"numPartitions\": 2, \"targetFileBytes\": 1000",
        s"\"curve\": \"kdtree\", \"weights\": [1${"0" * 400}]"
      ))
      refused(json(fields))
  }
}
