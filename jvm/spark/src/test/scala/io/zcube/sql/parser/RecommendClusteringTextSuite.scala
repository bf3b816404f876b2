package io.zcube.sql.parser

import org.apache.spark.SparkThrowable
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.plans.RecommendClustering

class RecommendClusteringTextSuite extends AnyFunSuite {

  test("a statement has its table, queries and weights") {
    val text = ClusteringStatementText.of(
      "-- which?\nrecommend Clustering db.`a b` for 'x = 1' WEIGHT 2.5, \"y = 'a'\" , 'z = \\'b\\'' weight 3;")
    assert(text === Some(ClusteringStatementText(
      "OPTIMIZE db.`a b`",
      RecommendClustering(Seq("x = 1" -> 2.5, "y = 'a'" -> 1.0, "z = 'b'" -> 3.0)))))
    assert(ClusteringStatementText.of("RECOMMEND CLUSTERING '/data/t' FOR 'a' ").map(_.optimize)
      === Some("OPTIMIZE '/data/t'"))
  }

  test("a multi-line text is not changed") {
    val query = "SELECT *\nFROM t -- all\nWHERE x = 1"
    val text = ClusteringStatementText.of(s"RECOMMEND CLUSTERING t FOR '$query'")
    assert(text.map(_.request) === Some(RecommendClustering(Seq(query -> 1.0))))
  }

  test("other statements are forwarded") {
    Seq(
      "RECOMMEND CLUSTERING t",
      "RECOMMEND CLUSTERING t FOR x = 1",
      "RECOMMEND CLUSTERING FOR 'x'",
      "SELECT recommend FROM clustering",
      "DESCRIBE CLUSTERING"
    ).foreach(statement => assert(ClusteringStatementText.of(statement) === None, statement))
    // New keywords can still be names.
    assert(OptimizeClauses.split("OPTIMIZE weight ZORDER BY (for, recommend) DRY RUN").map(_.head)
      === Some("OPTIMIZE weight ZORDER BY (for, recommend) "))
  }

  test("a weight that is not a number greater than 0 is rejected") {
    Seq("0", "many", "1e999").foreach { weight =>
      val refusal = intercept[Exception] {
        ClusteringStatementText.of(s"RECOMMEND CLUSTERING t FOR 'x' WEIGHT $weight")
      }
      assert(refusal.asInstanceOf[SparkThrowable].getCondition === "ZCUBE_INVALID_OPTION")
      assert(refusal.getMessage.contains(weight))
    }
  }
}
