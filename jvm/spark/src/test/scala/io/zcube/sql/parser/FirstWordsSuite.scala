package io.zcube.sql.parser

import org.apache.spark.sql.catalyst.parser.{CatalystSqlParser, ParseException}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night

class FirstWordsSuite extends AnyFunSuite {

  private val heads = Seq(
    "",
    " \t\r\n\f\u000b\u00a0\u3000",
    "-- SELECT\n",
    "-- a \\\n SELECT\n",
    "-- a \\\r\n",
    "/* */",
    "/**/",
    "/* /* SELECT */ SELECT */",
    "/* /*+ */ ",
    "/*/ */",
    "/***/ -- x\n/* -- */\n",
    // These aren't valid statements.
    "/*+ hint */",
    "/* /* */",
    "/* unclosed",
    "-- line",
    "--",
    "/ ",
    "x",
    "\\\n",
    ";"
  )

  for (head <- heads) test(s"whitespace and comments as in Spark: ${head.replace("\n", "⏎")}") {
    // Spark itself decides whether the statement begins after this text.
    val begins =
      try {
        val _ = CatalystSqlParser.parsePlan(s"${head}SELECT 1")
        true
      } catch { case _: ParseException => false }
    assert(FirstWords.are(s"${head}SELECT 1", "select") === begins)
    assert(FirstWords.are(s"${head}sElEcT/**/1", "select", "1") === begins)
  }

  test("words are whole words") {
    assert(!FirstWords.are("OPTIMIZED t", "optimize"))
    assert(!FirstWords.are("OPTIMIZE_ t", "optimize"))
    assert(!FirstWords.are("OPTIM", "optimize"))
    assert(!FirstWords.are("DESCRIBECLUSTERING t", "describe", "clustering"))
    assert(FirstWords.are("OPTIMIZE'/path'", "optimize"))
    assert(FirstWords.are("DESC--\nCLUSTERING", "desc", "clustering"))
  }

  test("words are found behind a beginning of any length") {
    val many = if (Night.all) 1000000 else 200000
    val heads = Seq(
      " " * many,
      "\n" * many,
      "-- x\n" * many,
      "/* x */" * many,
      "/*" + "/*" * many + "*/" * many + "*/",
      "--" + "\\\n" * many + "\n",
      "/*" + "x" * many + "*/")
    heads.foreach(head => assert(FirstWords.are(head + "OPTIMIZE t", "optimize")))
    heads.foreach(head => assert(!FirstWords.are(head + "SELECT 1", "optimize")))
    assert(!FirstWords.are("/*" * many + "OPTIMIZE t", "optimize"))
    // The complete readers must handle it too.
    heads.foreach { head =>
      Seq("SELECT 1", "VACUUM t", "OPTIMIZE t", "RECOMMEND t", "DESCRIBE t", "").foreach { sql =>
        assert(OptimizeClauses.split(head + sql) === None)
        assert(ClusteringStatementText.of(head + sql) === None)
      }
    }
    assert(OptimizeClauses.split(heads.head + "OPTIMIZE t DRY RUN").exists(_.dryRun))
    assert(OptimizeClauses.split(heads(3) + "OPTIMIZE t DRY RUN").exists(_.dryRun))
  }
}
