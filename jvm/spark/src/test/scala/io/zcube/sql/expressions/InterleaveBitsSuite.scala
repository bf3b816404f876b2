package io.zcube.sql.expressions

import scala.util.Random

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.DataTypeMismatch
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, ExpressionEvalHelper, Literal}
import org.apache.spark.sql.types._

class InterleaveBitsSuite extends SparkFunSuite with ExpressionEvalHelper {

  /** The oracle works on strings of '0' and '1'. */
  private def oracle(values: Seq[Int]): Array[Byte] = {
    val columns = values.map(v => ("0" * 32 + v.toBinaryString).takeRight(32))
    columns.transpose.map(_.mkString).mkString.grouped(8).map(Integer.parseInt(_, 2).toByte).toArray
  }

  private def literals(values: Int*): InterleaveBits = InterleaveBits(values.map(Literal(_)))

  test("214 and 97 interleave to 46633") {
    checkEvaluation(literals(214, 97), Array[Byte](0, 0, 0, 0, 0, 0, 0xb6.toByte, 0x29))
    checkEvaluation(literals(97, 214), Array[Byte](0, 0, 0, 0, 0, 0, 0x79, 0x16))
  }

  test("1 to 40 columns of any bit pattern, interpreted and generated") {
    val random = new Random(20041)
    Seq(1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 40).foreach { n =>
      val values = Seq.fill(n)(random.nextInt())
      checkEvaluation(literals(values: _*), oracle(values))
      val columns = values.indices.map(BoundReference(_, IntegerType, nullable = true))
      checkEvaluation(InterleaveBits(columns), oracle(values), InternalRow.fromSeq(values))
    }
  }

  test("NULL counts as 0, for every input type, and the result is never NULL") {
    Seq(ByteType, ShortType, IntegerType, NullType).foreach { dataType =>
      val expression =
        InterleaveBits(Seq(BoundReference(0, dataType, nullable = true), Literal(-1)))
      assert(!expression.nullable)
      checkEvaluation(expression, oracle(Seq(0, -1)), InternalRow(null))
    }
    checkEvaluation(InterleaveBits(Seq(Literal(null, NullType), Literal(5))), oracle(Seq(0, 5)))
  }

  test("narrower integers are widened with their sign") {
    Seq[(Any, Int)]((-3).toByte -> -3, Byte.MaxValue -> 127, (-300).toShort -> -300).foreach {
      case (value, widened) =>
        checkEvaluation(InterleaveBits(Seq(Literal(value), Literal(9))), oracle(Seq(widened, 9)))
    }
  }

  test("a row does not see the values of the row before") {
    val columns = Seq(
      BoundReference(0, IntegerType, nullable = true),
      BoundReference(1, IntegerType, nullable = true))
    val projection = org.apache.spark.sql.catalyst.expressions.UnsafeProjection.create(Seq(
      InterleaveBits(columns)))
    assert(projection(InternalRow(7, -1)).getBinary(0).toSeq == oracle(Seq(7, -1)).toSeq)
    assert(projection(InternalRow(null, 4)).getBinary(0).toSeq == oracle(Seq(0, 4)).toSeq)
  }

  test("interpreted = generated for every input type") {
    Seq(ByteType, ShortType, IntegerType).foreach { dataType =>
      checkConsistencyBetweenInterpretedAndCodegen(
        (a: Expression, b: Expression) => InterleaveBits(Seq(a, b)),
        dataType,
        dataType)
    }
  }

  test("wider and other types are rejected") {
    Seq(LongType, StringType, DoubleType, DecimalType(5, 0), BooleanType, DateType).foreach {
      dataType =>
        val columns = Seq(Literal(1), BoundReference(0, dataType, nullable = true))
        InterleaveBits(columns).checkInputDataTypes() match {
          case DataTypeMismatch(condition, parameters) =>
            assert(condition == "UNEXPECTED_INPUT_TYPE")
            assert(parameters("paramIndex") == "second")
            assert(parameters("inputType").contains(dataType.sql))
          case other => fail(s"$dataType: $other")
        }
    }
  }

  test("calls without columns are rejected") {
    val error = intercept[AnalysisException](InterleaveBits(Nil).checkInputDataTypes())
    assert(error.getCondition == "WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
  }
}
