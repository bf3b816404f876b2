package io.zcube.sql.parser

import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

class OptimizeClausesSuite extends AnyFunSuite {

  test("the clause is removed") {
    val split = OptimizeClauses.split(
      "OPTIMIZE a.`options (` WHERE p = 'OPTIONS (x)' ZORDER BY (x) options ('k' = 'it\\'s', \"l\"=\"m\");")
    assert(split.map(_.head.trim) ===
      Some("OPTIMIZE a.`options (` WHERE p = 'OPTIONS (x)' ZORDER BY (x)"))
    assert(split.map(_.options) === Some(Seq("k" -> "it's", "l" -> "m")))
    assert(split.forall(!_.dryRun))
  }

  test("keys without quotes, and numbers, as in Spark's OPTIONS") {
    val options =
      "(curve = 'hilbert', `dry` 'x', `it``s` = '', maxBytes 200g, a.b=0.5, 'forecast' = true)"
    assert(
      OptimizeClauses.split(s"OPTIMIZE t OPTIONS $options").map(_.options) === Some(Seq(
        "curve" -> "hilbert",
        "dry" -> "x",
        "it`s" -> "",
        "maxBytes" -> "200g",
        "a.b" -> "0.5",
        "forecast" -> "true")))
  }

  test("comments and line breaks may stand anywhere") {
    val split =
      OptimizeClauses.split("-- why\n/* options */ Optimize t\nzorder by x OPTIONS('a'='b')")
    assert(split.map(_.options) === Some(Seq("a" -> "b")))
  }

  test("DRY RUN is recognized with and without options") {
    assert(OptimizeClauses.split("OPTIMIZE dry.run ZORDER BY (run) dry /* */ run ;") ===
      Some(OptimizeClauses("OPTIMIZE dry.run ZORDER BY (run) ", Nil, dryRun = true)))
    assert(OptimizeClauses.split("optimize '/a dry run' OPTIONS ('a' = 'b')\nDRY RUN") ===
      Some(OptimizeClauses("optimize '/a dry run' ", Seq("a" -> "b"), dryRun = true)))
  }

  test("comments are blanked in the rest, because parsers differ in where they end") {
    assert(
      OptimizeClauses.split(
        "OPTIMIZE t /* /* ZORDER BY (y) */ FULL */ WHERE p = '/*' -- \\\n FULL\nZORDER BY (x) DRY RUN")
        .map(_.head.split("\\s+").mkString(" ")) === Some(
        "OPTIMIZE t WHERE p = '/*' ZORDER BY (x)"))
  }

  test("a statement of 50,000 values is split") {
    val list = (1 to 50000).map(i => s"'options $i', run").mkString(", ")
    val head = s"OPTIMIZE t WHERE p IN ($list) ZORDER BY (x) "
    assert(OptimizeClauses.split(s"${head}OPTIONS ('k' = 'v') DRY RUN")
      === Some(OptimizeClauses(head, Seq("k" -> "v"), dryRun = true)))
  }

  test("variables have their values") {
    def variable(name: String) = "$" + s"{$name}"
    val end = variable("my.end")
    val conf = new SQLConf
    conf.setConfString("my.table", "db.t")
    conf.setConfString("my.curve", "zorder")
    conf.setConfString("my.end", "DRY RUN")
    SQLConf.withExistingConf(conf) {
      val curve = variable("hiveconf:my.curve")
      assert(
        OptimizeClauses.split(
          s"OPTIMIZE ${variable("my.table")} ZORDER BY (x) OPTIONS ('curve' = '$curve') $end")
          === Some(
            OptimizeClauses(
              "OPTIMIZE db.t ZORDER BY (x) ",
              Seq("curve" -> "zorder"),
              dryRun = true)))
      assert(OptimizeClauses.split(s"OPTIMIZE t $end").exists(_.dryRun))
      conf.setConf(SQLConf.VARIABLE_SUBSTITUTE_ENABLED, false)
      assert(OptimizeClauses.split(s"OPTIMIZE t OPTIONS ('a' = '$end')").map(_.options)
        === Some(Seq("a" -> end)))
    }
  }

  for (sql <- Seq(
      "SELECT 1",
      "OPTIMIZE t ZORDER BY (options)",
      "OPTIMIZE options",
      "CREATE TABLE t OPTIONS ('a' = 'b')",
      "OPTIMIZE t OPTIONS ()",
      "OPTIMIZE t OPTIONS (a = )",
      "OPTIMIZE t OPTIONS ('a' 'b')",
      "OPTIMIZE t OPTIONS (a = b + c)",
      "OPTIMIZE t OPTIONS ('a' = 'b') ZORDER BY (x)",
      "OPTIMIZE t DRY RUN ZORDER BY (x)",
      "OPTIMIZE t WHERE run = 1",
      "OPTIMIZE t OPTIONS ('a' = 'b') /* /* unclosed */",
      "OPTIMIZE t -- OPTIONS ('a' = 'b')",
      "OPTIMIZE t -- \\\n OPTIONS ('a' = 'b')",
      "VACUUM t DRY RUN"
    ))
    test(s"not ours: $sql")(assert(OptimizeClauses.split(sql).isEmpty))
}
