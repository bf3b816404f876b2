package io.zcube.sql.parser

import org.scalatest.funsuite.AnyFunSuite

class DescribeClusteringTextSuite extends AnyFunSuite {

  for ((sql, optimize) <- Seq(
      "DESCRIBE CLUSTERING t" -> "OPTIMIZE t",
      "desc clustering a.`b c`.clustering;" -> "OPTIMIZE a.`b c`.clustering",
      "DESCRIBE /* */ CLUSTERING '/a WHERE b' BY (x, s.`y z`) -- end" ->
        "OPTIMIZE '/a WHERE b'\nZORDER BY (x, s.`y z`)",
      "DESCRIBE CLUSTERING delta.`/a` BY x, by WHERE d = ';' AND e > 1 ;;" ->
        "OPTIMIZE delta.`/a`\nWHERE d = ';' AND e > 1\nZORDER BY (x, by)",
      "DESCRIBE CLUSTERING t WHERE d = (1)" -> "OPTIMIZE t\nWHERE d = (1)"
    ))
    test(s"ours: $sql")(assert(DescribeClusteringText.asOptimize(sql) === Some(optimize)))

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
    test(s"not ours: $sql")(assert(DescribeClusteringText.asOptimize(sql).isEmpty))
}
