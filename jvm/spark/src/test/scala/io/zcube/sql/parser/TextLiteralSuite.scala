package io.zcube.sql.parser

import scala.util.{Random, Try}

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.ZCubeSparkSession
import io.zcube.sql.plans.RecommendClustering

/** Literals in OPTIONS and RECOMMEND have the same value as in a SELECT. */
class TextLiteralSuite extends AnyFunSuite with ZCubeSparkSession {

  /** The value in the analyzed SELECT: running each would compile its code first. */
  private def ofSpark(literal: String): Option[String] =
    Try(spark.sql(s"SELECT $literal").queryExecution.analyzed).toOption.map {
      case Project(Seq(Alias(value: Literal, _)), _) => value.eval().toString
      case other => fail(s"$literal: $other")
    }

  private def ofOptions(literal: String): Option[String] =
    Try(OptimizeClauses.split(s"OPTIMIZE t OPTIONS ('k' = $literal\n)").map(_.options.head._2))
      .toOption.flatten

  private def ofRecommend(literal: String): Option[String] =
    Try(ClusteringStatementText.of(s"RECOMMEND CLUSTERING t FOR $literal").map(_.request))
      .toOption.flatten.collect { case RecommendClustering(Seq((text, _))) => text }

  private def check(literal: String): Assertion = {
    val expected = ofSpark(literal)
    assert(ofOptions(literal) === expected, literal)
    assert(ofRecommend(literal) === expected, literal)
  }

  private def withSettings(pairs: (String, String)*)(body: => Assertion): Assertion = {
    pairs.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally pairs.foreach { case (key, _) => spark.conf.unset(key) }
  }

  private val escapings = for {
    escaped <- Seq("false", "true")
    consecutive <- Seq("false", "true")
  } yield Seq(
    "spark.sql.parser.escapedStringLiterals" -> escaped,
    "spark.sql.legacy.consecutiveStringLiterals.enabled" -> consecutive)

  for (pairs <- escapings) test(s"as SELECT reads them: ${pairs.map(_._2).mkString(", ")}") {
    withSettings(pairs: _*) {
      Seq(
        raw"'\n\t\r\b\0\Z\%\_\a\\'",
        "'\\u0041\\U0001F600\\101\\u00e'",
        raw"r'\n\'",
        "R\"it's\"",
        "'it''s'",
        "\"say \"\"so\"\"\"",
        "'a' 'b' /* c */ \"d\"\nr'e'",
        raw"'it\'s'",
        "''",
        "'-- no comment /* none */'"
      ).foreach { literal =>
        assert(
          ofSpark(literal).contains(spark.sql(s"SELECT $literal").head().getString(0)),
          literal)
        val _ = check(literal)
      }
      val random = new Random(15)
      val pieces = IndexedSeq(
        "\\",
        "'",
        "\"",
        "''",
        "n",
        "u0041",
        "U0001F600",
        "101",
        "%",
        "_",
        "r'") ++
        IndexedSeq("\n", " ", "x", "é", "😀", "\u0000", "--", "/*", "*/", ";", ")", "?", ":a", "`")
      var checked = 0
      (1 to 400).foreach { _ =>
        val inner = Seq.fill(random.nextInt(8))(pieces(random.nextInt(pieces.size))).mkString
        val quote = Seq("'", "\"", "r'", "R\"")(random.nextInt(4))
        val literal = quote + inner + quote.takeRight(1)
        // Text that is more than a literal there would be a string followed by something else here.
        if (isOneLiteral(literal)) {
          val _ = check(literal)
          checked += 1
        }
      }
      assert(checked > 100)
    }
  }

  private def isOneLiteral(sql: String): Boolean = {
    val parsed = Try(spark.sessionState.sqlParser.parseExpression(sql))
    parsed.toOption.exists(_.isInstanceOf[Literal])
  }

  test("what Spark reads as a name is not a string") {
    withSettings(
      "spark.sql.ansi.enabled" -> "true",
      "spark.sql.ansi.doubleQuotedIdentifiers" -> "true") {
      val refusal = intercept[AnalysisException] {
        OptimizeClauses.split("OPTIMIZE t OPTIONS ('k' = \"v\")")
      }
      assert(refusal.getCondition === "ZCUBE_NOT_A_TEXT")
    }
  }
}
