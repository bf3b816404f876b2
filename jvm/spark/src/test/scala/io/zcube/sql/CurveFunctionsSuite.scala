package io.zcube.sql

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.functions.{col, hex}
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Causes
import io.zcube.sql.errors.ZCubeArithmeticException
import io.zcube.sql.functions.{hilbert_index, interleave_bits}

class CurveFunctionsSuite extends AnyFunSuite with ZCubeSparkSession {

  private def value(sql: String): Any = spark.sql(sql).head().get(0)

  test("interleave_bits and hilbert_index give the same through SQL and the Scala functions") {
    assert(value("SELECT hex(interleave_bits(214, 97))") == "000000000000B629")
    assert(value("SELECT hilbert_index(2, 2, 0)") == 14L)
    assert(value("SELECT hilbert_index(5, 5, 10, 20)") == 7865L)
    val row = spark
      .range(1)
      .selectExpr("214 AS y", "97 AS x")
      .select(hex(interleave_bits(col("y"), col("x"))), hilbert_index(8, col("y"), col("x")))
      .head()
    assert(row.getString(0) == "000000000000B629")
    assert(row.getLong(1) == value("SELECT hilbert_index(8, 214, 97)"))
  }

  // range_partition_id samples its input, and is tested separately.
  private val curveFunctions = FunctionCatalog.all.filter(_._1.funcName != "range_partition_id")

  curveFunctions.foreach { case (name, info, _) =>
    test(s"DESCRIBE FUNCTION EXTENDED ${name.funcName} is full, and its examples are true") {
      val description =
        spark.sql(s"DESCRIBE FUNCTION EXTENDED ${name.funcName}").collect().map(_.getString(
          0)).mkString("\n")
      Seq("Usage:", "Arguments:", "Examples:", "Note:", "Since: 0.1.0").foreach { part =>
        assert(description.contains(part), description)
      }
      assert(!description.contains("_FUNC_"))
      val examples = "(?m)^ +> (SELECT .*);\n +(.*)$".r.findAllMatchIn(info.getExamples).toSeq
      assert(examples.size >= 2)
      examples.foreach { example =>
        assert(
          String.valueOf(value(example.group(1))).replace("null", "NULL") == example.group(2),
          example)
      }
    }
  }

  private val modes = Seq("CODEGEN_ONLY" -> "true", "NO_CODEGEN" -> "false")

  private def inMode[A](mode: (String, String))(body: => A): A = {
    val (factory, wholeStage) = mode
    spark.conf.set("spark.sql.codegen.factoryMode", factory)
    spark.conf.set("spark.sql.codegen.wholeStage", wholeStage)
    try body
    finally {
      spark.conf.unset("spark.sql.codegen.factoryMode")
      spark.conf.unset("spark.sql.codegen.wholeStage")
    }
  }

  test("twice in one stage and over 200 columns: the same with and without generated code") {
    val wide = (0 until 200).map(i => s"cast(pmod(id * ${i + 3}, 97) AS INT) AS c$i")
    val names = (0 until 200).map(i => s"c$i")
    val all = names.mkString(", ")
    val results = modes.map { mode =>
      inMode(mode) {
        spark
          .range(50)
          .selectExpr(wide: _*)
          .selectExpr(
            "hilbert_index(7, c0, c1) AS a",
            "hilbert_index(7, c1, c0) AS b",
            s"hex(interleave_bits($all)) AS c",
            s"hex(hilbert_index(7, $all)) AS d",
            "hex(interleave_bits(c5, c6)) AS e"
          )
          .where("a IS NOT NULL AND hilbert_index(7, c7) >= 0")
          .orderBy("c")
          .collect()
          .map(_.toSeq)
          .toSeq
      }
    }
    assert(results.head.size == 50)
    assert(results.head == results.last)
    assert(results.head.map(r => (r.head, r(1))).distinct.size > 40)
  }

  test("they support whole-stage code generation") {
    val plan = spark
      .range(0, 10, 1, 1)
      .selectExpr("cast(id AS INT) AS x")
      .selectExpr("interleave_bits(x, x) AS z", "hilbert_index(4, x, x) AS h")
      .queryExecution
      .executedPlan
      .toString
    assert(plan.contains("*(1) Project") && plan.contains("interleave_bits"), plan)
  }

  test("BINARY indexes sort in the order of the curve") {
    val rows = spark
      .range(4096)
      .selectExpr("id DIV 64 AS x", "id % 64 AS y")
      .selectExpr("hilbert_index(6, x, y) AS short", "hilbert_index(32, x, y, 0) AS wide")
      .orderBy("wide")
      .collect()
    // 26 more levels of zeros and one more axis of zeros change the curve; what must stay is one to one and sorted.
    val wide = rows.map(r => BigInt(1, r.getAs[Array[Byte]]("wide")))
    assert(wide.sameElements(wide.sorted) && wide.distinct.length == 4096)
  }

  Seq(
    "SELECT interleave_bits(1L)" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT interleave_bits('1', 2)" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT interleave_bits(1.0D)" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT interleave_bits()" -> "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    "SELECT hilbert_index()" -> "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    "SELECT hilbert_index(4)" -> "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    "SELECT hilbert_index(0, 1)" -> "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
    "SELECT hilbert_index(33, 1)" -> "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
    "SELECT hilbert_index(NULL, 1)" -> "DATATYPE_MISMATCH.UNEXPECTED_NULL",
    "SELECT hilbert_index(CAST(id AS INT), id) FROM range(3)" -> "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
    "SELECT hilbert_index(4, 'a')" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    // A constant of another type isn't computed.
    "SELECT hilbert_index(1 / 0, 1)" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT range_partition_id(1, 1 / 0)" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT range_partition_id(1, '2')" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT range_partition_id(1, 2L)" -> "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
    "SELECT range_partition_id(1, 0)" -> "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
    "SELECT range_partition_id(1, 1048577)" -> "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
    "SELECT range_partition_id(1, NULL)" -> "DATATYPE_MISMATCH.UNEXPECTED_NULL",
    "SELECT range_partition_id(1, INT(id)) FROM range(3)" -> "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
    "SELECT range_partition_id(map(1, 2), 3)" -> "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"
  ).foreach {
    case (sql, condition) =>
      test(s"rejected at analysis with $condition: $sql") {
        assert(intercept[AnalysisException](spark.sql(sql)).getCondition == condition)
      }
  }

  test("a value off the grid raises its own error, with and without generated code") {
    modes.foreach { mode =>
      inMode(mode) {
        val error = intercept[Throwable](
          spark.range(0, 2000, 1, 1).selectExpr("hilbert_index(10, id, 0)").collect())
        val ours = Causes.of(error).collectFirst {
          case e: ZCubeArithmeticException => e: SparkThrowable
        }
        assert(ours.exists(_.getCondition == "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE"), error)
        assert(ours.exists(_.getMessageParameters.get("value") == "1024"))
      }
    }
  }

  test("after a NULL nothing is evaluated, also where two calls share an argument") {
    modes.foreach { mode =>
      inMode(mode) {
        val rows = spark.range(0, 4, 2, 1).selectExpr("id b").selectExpr(
          "hilbert_index(8, nullif(b, 0), 100 div b) h",
          "hilbert_index(9, nullif(b, 0), 100 div b) i",
          "hilbert_index(8, nullif(b, 0), 1 div 0 + b) j")
        assert(rows.drop("j").where("h IS NULL").collect().toSeq === Seq(Row(null, null)))
        assert(rows.where("b = 0").collect().toSeq === Seq(Row(null, null, null)))
        assert(
          rows.where("b = 2").selectExpr("h", "i").collect().toSeq === Seq(
            Row(value("SELECT hilbert_index(8, 2, 50)"), value("SELECT hilbert_index(9, 2, 50)"))))
      }
    }
  }

  test("calls of constants are constants") {
    val table = "VALUES (interleave_bits(214, 97), hilbert_index(2, 2, 0)) AS t(z, h)"
    assert(value(s"SELECT hex(z) FROM $table") == "000000000000B629")
    assert(value(s"SELECT h FROM $table") == 14L)
    val optimized = spark.range(3).selectExpr(
      "hilbert_index(8, 3, 5)",
      "hilbert_index(32, 0, 1)",
      "hilbert_index(2, NULL, 9)",
      "interleave_bits(1, 2)",
      "interleave_bits(NULL, 2)").queryExecution.optimizedPlan
    val folded = optimized.expressions.collect { case Alias(child, _) => child }
    assert(folded.size == 5 && folded.forall(_.isInstanceOf[Literal]), optimized)
    assert(folded(2).asInstanceOf[Literal].value == null)
    assert(folded.head.eval() == spark.range(3, 4).selectExpr(
      "hilbert_index(8, id, id + 2)").head().get(0))
  }

  test("a constant call that fails does so only where it is evaluated") {
    val wrong = "hilbert_index(2, 99, 0)"
    val failing = spark.range(1).selectExpr(wrong)
    assert(intercept[ZCubeArithmeticException](failing.collect()).getCondition ==
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE")
    for (call <- Seq(wrong, "interleave_bits(CAST(1 div 0 AS INT), 1)"))
      assert(
        spark.range(3).selectExpr(s"IF(id < 9, NULL, $call) v").where("v IS NULL").count() == 3)
  }

  test("views and SQL functions in the catalog may call them") {
    spark.sql(
      """CREATE VIEW indexed AS SELECT hilbert_index(8, id, id) h, interleave_bits(1) z,
        range_partition_id(id, 2) r FROM range(4)""")
    spark.sql("CREATE FUNCTION diagonal(x INT) RETURNS BIGINT RETURN hilbert_index(8, x, x)")
    try {
      assert(spark.table("indexed").selectExpr("sum(r)").head().getLong(0) == 2)
      assert(value("SELECT diagonal(3)") == value("SELECT hilbert_index(8, 3, 3)"))
    } finally {
      spark.sql("DROP VIEW indexed")
      spark.sql("DROP FUNCTION diagonal"): Unit
    }
  }
}
