package io.zcube.sql.parser

import org.scalatest.funsuite.AnyFunSuite

class OptimizeOptionsSuite extends AnyFunSuite {

  test("the clause is taken off") {
    val split = OptimizeOptions.split(
      "OPTIMIZE a.`options (` WHERE p = 'OPTIONS (x)' ZORDER BY (x) options ('k' = 'it''s', \"l\"=\"m\");")
    assert(split.map(_._1.trim) ===
      Some("OPTIMIZE a.`options (` WHERE p = 'OPTIONS (x)' ZORDER BY (x)"))
    assert(split.map(_._2) === Some(Seq("k" -> "it's", "l" -> "m")))
  }

  test("comments and line breaks") {
    val split =
      OptimizeOptions.split("-- why\n/* options */ Optimize t\nzorder by x OPTIONS('a'='b')")
    assert(split.map(_._2) === Some(Seq("a" -> "b")))
  }

  for (sql <- Seq(
      "SELECT 1",
      "OPTIMIZE t ZORDER BY (options)",
      "OPTIMIZE options",
      "CREATE TABLE t OPTIONS ('a' = 'b')",
      "OPTIMIZE t OPTIONS ()",
      "OPTIMIZE t OPTIONS (a = 'b')",
      "OPTIMIZE t OPTIONS ('a' = 'b') ZORDER BY (x)"
    ))
    test(s"not ours: $sql")(assert(OptimizeOptions.split(sql).isEmpty))
}
