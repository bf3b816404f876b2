package io.zcube.sql.parser

import org.scalatest.funsuite.AnyFunSuite

class OptimizeClausesSuite extends AnyFunSuite {

  test("the clause is taken off") {
    val split = OptimizeClauses.split(
      "OPTIMIZE a.`options (` WHERE p = 'OPTIONS (x)' ZORDER BY (x) options ('k' = 'it''s', \"l\"=\"m\");")
    assert(split.map(_.head.trim) ===
      Some("OPTIMIZE a.`options (` WHERE p = 'OPTIONS (x)' ZORDER BY (x)"))
    assert(split.map(_.options) === Some(Seq("k" -> "it's", "l" -> "m")))
    assert(split.forall(!_.dryRun))
  }

  test("comments and line breaks") {
    val split =
      OptimizeClauses.split("-- why\n/* options */ Optimize t\nzorder by x OPTIONS('a'='b')")
    assert(split.map(_.options) === Some(Seq("a" -> "b")))
  }

  test("dry run, with and without options") {
    assert(OptimizeClauses.split("OPTIMIZE dry.run ZORDER BY (run) dry /* */ run ;") ===
      Some(OptimizeClauses("OPTIMIZE dry.run ZORDER BY (run) ", Nil, dryRun = true)))
    assert(OptimizeClauses.split("optimize '/a dry run' OPTIONS ('a' = 'b')\nDRY RUN") ===
      Some(OptimizeClauses("optimize '/a dry run' ", Seq("a" -> "b"), dryRun = true)))
  }

  for (sql <- Seq(
      "SELECT 1",
      "OPTIMIZE t ZORDER BY (options)",
      "OPTIMIZE options",
      "CREATE TABLE t OPTIONS ('a' = 'b')",
      "OPTIMIZE t OPTIONS ()",
      "OPTIMIZE t OPTIONS (a = 'b')",
      "OPTIMIZE t OPTIONS ('a' = 'b') ZORDER BY (x)",
      "OPTIMIZE t DRY RUN ZORDER BY (x)",
      "OPTIMIZE t WHERE run = 1",
      "VACUUM t DRY RUN"
    ))
    test(s"not ours: $sql")(assert(OptimizeClauses.split(sql).isEmpty))
}
