package io.zcube.sql.parser

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.plans.{DescribeClustering, RecommendClustering}

class DescribeClusteringTextSuite extends AnyFunSuite {

  for ((sql, optimize, where) <- Seq(
      ("DESCRIBE CLUSTERING t", "OPTIMIZE t", None),
      ("desc clustering a.`b c`.clustering;", "OPTIMIZE a.`b c`.clustering", None),
      (
        "DESCRIBE /* */ CLUSTERING '/a WHERE b' BY (x, s.`y z`) -- end",
        "OPTIMIZE '/a WHERE b'\nZORDER BY (x, s.`y z`)",
        None),
      (
        "DESCRIBE CLUSTERING delta.`/a` BY x, by WHERE d = ';' AND e > 1 ;;",
        "OPTIMIZE delta.`/a`\nZORDER BY (x, by)",
        Some("d = ';' AND e > 1")),
      ("DESCRIBE CLUSTERING t WHERE d = (1)", "OPTIMIZE t", Some("d = (1)")),
      // Text in a predicate that looks like a clause isn't one.
      (
        "DESCRIBE CLUSTERING t WHERE d = 1 ZORDER BY (x)",
        "OPTIMIZE t",
        Some("d = 1 ZORDER BY (x)")),
      ("DESCRIBE CLUSTERING t WHERE d = /* one */ 1 -- note", "OPTIMIZE t", Some("d = /* one */ 1"))
    ))
    test(s"ours: $sql") {
      val expected = ClusteringStatementText(optimize, DescribeClustering(where))
      assert(ClusteringStatementText.of(sql) === Some(expected))
    }

  test("variables have their values") {
    def variable(name: String) = "$" + s"{$name}"
    val conf = new SQLConf
    conf.setConfString("my.table", "db.t")
    conf.setConfString("my.day", "2026-01-01")
    val (table, day) = (variable("my.table"), variable("my.day"))
    SQLConf.withExistingConf(conf) {
      assert(
        ClusteringStatementText.of(s"DESCRIBE CLUSTERING $table WHERE d = '$day'") === Some(
          ClusteringStatementText(
            "OPTIMIZE db.t",
            DescribeClustering(Some("d = '2026-01-01'")))))
      assert(
        ClusteringStatementText.of(s"RECOMMEND CLUSTERING $table FOR 'd > $day'") === Some(
          ClusteringStatementText(
            "OPTIMIZE db.t",
            RecommendClustering(Seq("d > 2026-01-01" -> 1.0)))))
    }
  }

  for (sql <- Seq(
      "DESCRIBE clustering",
      "DESCRIBE TABLE clustering",
      "DESCRIBE CLUSTERING t BY ()",
      "DESCRIBE CLUSTERING t BY (x",
      "DESCRIBE CLUSTERING t FULL",
      "DESCRIBE CLUSTERING t WHERE",
      "DESCRIBE CLUSTERING t WHERE ;",
      "EXPLAIN DESCRIBE CLUSTERING t",
      "SELECT 'DESCRIBE CLUSTERING t'"
    ))
    test(s"not ours: $sql")(assert(ClusteringStatementText.of(sql).isEmpty))
}
