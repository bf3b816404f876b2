package io.zcube.sql.expressions

import scala.util.Random

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.DataTypeMismatch
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Cast, Expression, ExpressionEvalHelper, Literal, UnsafeProjection}
import org.apache.spark.sql.types._
import org.apache.spark.{SparkFunSuite, SparkThrowable}

import io.zcube.curve.PaperHilbert
import io.zcube.sql.errors.ZCubeArithmeticException

class HilbertIndexSuite extends SparkFunSuite with ExpressionEvalHelper {

  private def hilbert(bits: Int, columns: Expression*): HilbertIndex =
    HilbertIndex(Literal(bits) +: columns)

  private def literals(bits: Int, values: Long*): HilbertIndex =
    hilbert(bits, values.map(Literal(_)): _*)

  private def ints(n: Int): Seq[Expression] =
    (0 until n).map(BoundReference(_, IntegerType, nullable = true))

  test("the 4 x 4 table in Skilling's orientation, and (5, 10, 20)") {
    val table = Seq(Seq(0, 1, 14, 15), Seq(3, 2, 13, 12), Seq(4, 7, 8, 11), Seq(5, 6, 9, 10))
    for { y <- 0 to 3; x <- 0 to 3 }
      checkEvaluation(hilbert(2, Literal(x), Literal(y)), table(y)(x).toLong)
    checkEvaluation(hilbert(5, Literal(5), Literal(10), Literal(20)), 7865L)
  }

  test("the paper's inverse returns the point: BIGINT up to 63 bits, otherwise BINARY") {
    val random = new Random(20042)
    for {
      (n, bits) <- Seq(
        1 -> 32,
        2 -> 1,
        2 -> 31,
        2 -> 32,
        3 -> 21,
        3 -> 22,
        4 -> 16,
        7 -> 9,
        7 -> 10,
        9 -> 8,
        20 -> 32)
      _ <- 1 to 5
    } {
      val point = Seq.fill(n)(random.nextLong() >>> (64 - bits))
      val expression = literals(bits, point: _*)
      val result = expression.eval()
      val index = if (n * bits <= 63) {
        assert(expression.dataType == LongType)
        BigInt(result.asInstanceOf[Long])
      } else {
        assert(expression.dataType == BinaryType)
        assert(result.asInstanceOf[Array[Byte]].length == (n * bits + 7) / 8)
        BigInt(1, result.asInstanceOf[Array[Byte]])
      }
      assert(PaperHilbert.point(index, n, bits) == point.map(BigInt(_)), s"$n x $bits")
      checkEvaluation(expression, result)
      val row = InternalRow.fromSeq(point)
      checkEvaluation(
        hilbert(bits, point.indices.map(BoundReference(_, LongType, nullable = true)): _*),
        result,
        row)
    }
  }

  test("a NULL column makes the index NULL, for every input type") {
    for {
      dataType <- Seq(ByteType, ShortType, IntegerType, LongType, NullType); bits <- Seq(4, 32)
    } {
      val columns = Seq(Literal(1), BoundReference(0, dataType, nullable = true), Literal(2))
      checkEvaluation(hilbert(bits, columns: _*), null, InternalRow(null))
    }
    assert(!hilbert(2, Literal(1)).nullable)
  }

  test("a row does not see the NULL of the row before") {
    val projection = UnsafeProjection.create(Seq(hilbert(2, ints(2): _*)))
    assert(projection(InternalRow(2, null)).isNullAt(0))
    assert(projection(InternalRow(2, 0)).getLong(0) == 14)
  }

  test("reading stops at the first NULL, also for values that do not fit") {
    checkEvaluation(hilbert(2, ints(2): _*), null, InternalRow(null, 99))
    checkErrorInExpression[ZCubeArithmeticException](
      hilbert(2, ints(2): _*),
      InternalRow(99, null),
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE",
      Map("value" -> "99", "max" -> "3", "bits" -> "2"))
  }

  test("a value off the grid is an error that names value and bits, in both modes") {
    Seq[(Int, Any, DataType)](
      (10, 1024, IntegerType),
      (10, -1, IntegerType),
      (7, (-1).toByte, ByteType),
      (32, 1L << 32, LongType),
      (32, -1, IntegerType),
      (10, 1L << 40, LongType)).foreach { case (bits, value, dataType) =>
      checkErrorInExpression[ZCubeArithmeticException](
        hilbert(bits, BoundReference(0, dataType, nullable = false), Literal(0)),
        InternalRow(value),
        "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE",
        Map("value" -> s"$value", "max" -> s"${(1L << bits) - 1}", "bits" -> s"$bits")
      )
    }
    val error = intercept[ZCubeArithmeticException](literals(10, 1024).eval())
    assert((error: SparkThrowable).getSqlState == "22003")
    assert(error.getMessage.contains("1024") && error.getMessage.contains("10 bits"))
  }

  test("interpreted = generated for every input type") {
    Seq(ByteType, ShortType, IntegerType, LongType).foreach { dataType =>
      val random = new Random(20043)
      (1 to 50).foreach { _ =>
        val values = Seq.fill(3)(random.nextInt(9)).map {
          case 8 => null
          case small => Cast(Literal(small), dataType).eval()
        }
        val columns = (0 until 3).map(BoundReference(_, dataType, nullable = true))
        Seq(3, 32).foreach { bits =>
          val expression = hilbert(bits, columns: _*)
          val row = InternalRow.fromSeq(values)
          checkEvaluation(expression, expression.eval(row), row)
        }
      }
    }
  }

  private def refusal(expression: HilbertIndex): DataTypeMismatch =
    expression.checkInputDataTypes() match {
      case mismatch: DataTypeMismatch => mismatch
      case other => fail(s"$other")
    }

  test("bits must be a constant INT from 1 to 32") {
    assert(refusal(HilbertIndex(ints(1) ++ ints(1))).errorSubClass == "NON_FOLDABLE_INPUT")
    assert(refusal(HilbertIndex(Literal(
      null,
      IntegerType) +: ints(1))).errorSubClass == "UNEXPECTED_NULL")
    assert(
      refusal(HilbertIndex(Literal("ten") +: ints(1))).errorSubClass == "UNEXPECTED_INPUT_TYPE")
    Seq(0, -1, 33).foreach { bits =>
      val mismatch = refusal(hilbert(bits, ints(1): _*))
      assert(mismatch.errorSubClass == "VALUE_OUT_OF_RANGE")
      assert(mismatch.messageParameters("currentValue") == s"$bits")
    }
    Seq(1, 32).foreach(bits => assert(hilbert(bits, ints(1): _*).checkInputDataTypes().isSuccess))
  }

  test("columns of other types are rejected, with their argument position") {
    Seq(StringType, DoubleType, DecimalType(5, 0), BooleanType, DateType).foreach { dataType =>
      val mismatch = refusal(hilbert(4, Literal(1), BoundReference(0, dataType, nullable = true)))
      assert(mismatch.errorSubClass == "UNEXPECTED_INPUT_TYPE")
      assert(mismatch.messageParameters("paramIndex") == "third")
    }
  }

  test("missing bits and missing columns are rejected") {
    Seq(
      () => HilbertIndex(Nil).checkInputDataTypes(),
      () => hilbert(4).checkInputDataTypes()).foreach { call =>
      val error = intercept[AnalysisException](call())
      assert(error.getCondition == "WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
    }
  }
}
