package io.zcube.sql.expressions

import scala.util.Try

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, ExpressionEvalHelper, Literal}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.curve.{HilbertCurve, LinearCurve, MortonCurve}
import io.zcube.layout.kdtree.KdTreeLayout
import io.zcube.layout.kinds.CurveLayout
import io.zcube.layout.{BucketedSample, CutPoints, CutRules, RankScale}
import io.zcube.sql.values.TypedRangeBounds

/** `checkEvaluation` evaluates interpreted, generated, and through an unsafe projection. */
class ExpressionsSuite extends SparkFunSuite with ExpressionEvalHelper {

  private def utf8(s: String) = UTF8String.fromString(s)
  private def array(values: Any*): ArrayData = new GenericArrayData(values.toArray)

  /** TIME, which Spark has from 4.1 on. */
  private val time: Option[DataType] = Try(DataType.fromDDL("TIME(6)")).toOption

  /** By type, ascending values in Catalyst's form; all orderable types of a Delta table, and TIME. */
  private val values: Seq[(DataType, Seq[Any])] =
    time.map(_ -> Seq(0L, 1000L, 86399999999000L)).toSeq ++ Seq(
      BooleanType -> Seq(false, true),
      ByteType -> Seq(Byte.MinValue, 0.toByte, Byte.MaxValue),
      ShortType -> Seq(Short.MinValue, 0.toShort, Short.MaxValue),
      IntegerType -> Seq(Int.MinValue, -1, 0, Int.MaxValue),
      LongType -> Seq(Long.MinValue, -1L, 0L, Long.MaxValue),
      FloatType -> Seq(Float.NegativeInfinity, -1f, 0f, 1.5f, Float.PositiveInfinity, Float.NaN),
      DoubleType -> Seq(Double.NegativeInfinity, -1d, 0d, 1.5, Double.PositiveInfinity, Double.NaN),
      DateType -> Seq(-1000000, 0, 20000),
      TimestampType -> Seq(-1L, 0L, Long.MaxValue),
      TimestampNTZType -> Seq(-1L, 0L, Long.MaxValue),
      DayTimeIntervalType() -> Seq(-5L, 5L),
      YearMonthIntervalType() -> Seq(-5, 5),
      DecimalType(10, 2) -> Seq(
        Decimal(BigDecimal("-1.50"), 10, 2),
        Decimal(BigDecimal("7.25"), 10, 2)),
      DecimalType(38, 0) -> Seq(
        Decimal(BigDecimal("-99999999999999999999999999999999999999"), 38, 0),
        Decimal(BigDecimal("99999999999999999999999999999999999999"), 38, 0)),
      StringType -> Seq(utf8(""), utf8("a"), utf8("a" * 40 + "b"), utf8("é"), utf8("日本")),
      StringType("UTF8_LCASE") -> Seq(utf8("a"), utf8("B"), utf8("c")),
      BinaryType -> Seq(Array[Byte](), Array[Byte](0), Array[Byte](127), Array[Byte](-128, 1)),
      ArrayType(IntegerType) -> Seq(array(1), array(1, 2), array(2)),
      StructType.fromDDL("a INT, b STRING") -> Seq(
        InternalRow(1, null),
        InternalRow(1, utf8("x")),
        InternalRow(2, utf8("a")))
    )

  for ((dataType, ascending) <- values) {
    test(s"range ids of ${dataType.sql}: interpreted = generated, NULL is 0") {
      // The last value has no bound: it is above all.
      val bounds = TypedRangeBounds.at(dataType, ascending.init.toArray)
      val id = RangeIdOf(BoundReference(0, dataType, nullable = true), bounds)
      ascending.zipWithIndex.foreach { case (value, i) =>
        checkEvaluation(id, i, InternalRow(value))
        checkEvaluation(
          id.copy(child = BoundReference(0, dataType, nullable = false)),
          i,
          InternalRow(value))
      }
      checkEvaluation(id, 0, InternalRow(null))
    }

    test(s"clustering keys of ${dataType.sql}: interpreted = generated, NULL below all") {
      val counts = Array.fill(ascending.length)(10L)
      val scale = RankScale.of(counts, 10L, 64)
      val bounds = TypedRangeBounds.at(dataType, scale.boundIndices.map(ascending(_)))
      // The definition, computed by hand: NULLs take the first of length + 1 equal shares.
      val ranks = ascending.indices.map(i => ((i + 1.5) / (ascending.length + 1) * 64).toInt)
      val columns = Seq(
        BoundReference(0, dataType, nullable = true),
        BoundReference(1, IntegerType, nullable = true))
      val second = TypedRangeBounds.at(IntegerType, Array(1))
      val secondScale = RankScale(Array(0), Array(16, 48))
      for (curve <- Seq(LinearCurve(2, 6), MortonCurve(2, 6), HilbertCurve(2, 6))) {
        val key = ClusteringKey(
          columns,
          Seq(bounds, second),
          new CurveLayout(curve, Array(scale, secondScale)))
        val firsts: Seq[(Any, Int)] = ascending.zip(ranks) :+ ((null, 0))
        val seconds: Seq[(Any, Int)] = Seq((1, 16), (2, 48), (null, 0))
        for ((value, rank) <- firsts; (y, rankY) <- seconds)
          checkEvaluation(key, curve.index(Array(rank, rankY)), InternalRow(value, y))
      }
    }

    test(s"keys of a k-d tree over ${dataType.sql}: interpreted = generated, NULL below all") {
      // Each value is a separate bucket; -1 is NULL.
      val points = for (v <- -1 until ascending.length; y <- -1 to 1; _ <- 0 until 5) yield (v, y)
      def scale(values: Int) = RankScale(Array.range(0, values - 1), Array.range(0, values))
      val sample = new BucketedSample(
        Array(scale(ascending.length), scale(2)),
        Array(points.map(_._1).toArray, points.map(_._2).toArray))
      val tree = KdTreeLayout.of(sample, 5, CutRules(), Nil)
      val key = ClusteringKey(
        Seq(
          BoundReference(0, dataType, nullable = true),
          BoundReference(1, IntegerType, nullable = true)),
        Seq(
          TypedRangeBounds.at(dataType, ascending.init.toArray),
          TypedRangeBounds.at(IntegerType, Array(7))),
        tree.layout
      )
      for ((v, y) <- points.distinct) {
        val second: Any = if (y < 0) null else 7 + y
        val row = InternalRow(if (v < 0) null else ascending(v), second)
        checkEvaluation(key, tree.layout.keyOf(Array(v + 1, y + 1)), row)
      }
    }
  }

  test("-0.0 is 0.0, and every NaN is the same") {
    val double = RangeIdOf(
      BoundReference(0, DoubleType, nullable = true),
      TypedRangeBounds.at(DoubleType, Array(0.0)))
    checkEvaluation(double, 0, InternalRow(-0.0))
    checkEvaluation(double, 1, InternalRow(java.lang.Double.longBitsToDouble(0xfff8000000000001L)))
    val negativeZeroBound = TypedRangeBounds.at(FloatType, Array(-0.0f))
    checkEvaluation(
      RangeIdOf(BoundReference(0, FloatType, nullable = true), negativeZeroBound),
      0,
      InternalRow(0.0f))
  }

  test("the file of a key is that between its cuts, with and without noise") {
    val cuts = CutPoints.at(Seq((10L, 0), (20L, 30000), (20L, 50000)))
    def file(key: Long, noise: Long) =
      FileOfKey(
        BoundReference(0, LongType, nullable = false),
        Literal(noise),
        cuts) -> InternalRow(key)
    for ((key, noise, expected) <- Seq(
        (9L, 5L, 0),
        (10L, 0L, 1),
        (20L, 29999L, 1),
        (20L, 30000L, 2),
        (20L, 65535L, 3),
        (21L, 0L, 3),
        (20L, 65536L + 30000L, 2))) {
      val (expression, row) = file(key, noise)
      checkEvaluation(expression, expected, row)
    }
  }

  test("interleave_bits and hilbert_index over many columns, twice in one row") {
    val columns = (0 until 40).map(i => BoundReference(i, IntegerType, nullable = true))
    val row = InternalRow.fromSeq((0 until 40).map(i => if (i % 7 == 3) null else i * 0x01010101))
    checkConsistencyBetweenInterpretedAndCodegen(
      (xs: Seq[org.apache.spark.sql.catalyst.expressions.Expression]) => InterleaveBits(xs),
      IntegerType,
      9)
    val interleaved = InterleaveBits(columns)
    checkEvaluation(interleaved, interleaved.eval(row), row)
    val small = HilbertIndex(Literal(2) +: Seq(Literal(2), Literal(0)))
    checkEvaluation(small, 14L)
    checkEvaluation(
      HilbertIndex(Seq(Literal(2), Literal(2), Literal.create(null, IntegerType))),
      null)
    val wide = HilbertIndex(Literal(32) +: columns.take(3).map(_ => Literal(7)))
    assert(wide.dataType === BinaryType)
    checkEvaluation(wide, wide.eval(InternalRow.empty))
    checkExceptionInExpression[io.zcube.sql.errors.ZCubeArithmeticException](
      HilbertIndex(Seq(Literal(2), Literal(4))),
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE")
  }
}
