package io.zcube.sql.simulation

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.predicates.{Interval, PredicateBoxes, ValueRange}
import io.zcube.sql.sampling.RowSample

class SkippingTestSuite extends AnyFunSuite {

  private val types = Seq(IntegerType, StringType)
  private def text(value: String): Any = UTF8String.fromString(value)
  private def between(low: Int, high: Int, inclusive: Boolean): ValueRange = ValueRange.of(
    Interval(Some(Interval.End(low, inclusive)), Some(Interval.End(high, inclusive))))
  private def boxes(of: Map[Int, ValueRange]*): PredicateBoxes = PredicateBoxes(of, Nil)

  /** [10, 20], all texts NULL. */
  private val file = SimulatedFile(5, Vector(10, null), Vector(20, null), Vector(0L, 5L))
  private val test = new SkippingTest(types)

  test("an exclusive end doesn't touch the file's own") {
    def read(low: Int, high: Int, inclusive: Boolean) =
      MustRead(test, file, boxes(Map(0 -> between(low, high, inclusive))))
    assert(read(20, 30, inclusive = true) && !read(20, 30, inclusive = false))
    assert(read(0, 10, inclusive = true) && !read(0, 10, inclusive = false))
    assert(read(12, 13, inclusive = false) && !read(21, 30, inclusive = true))
  }

  test("a file is read if its NULLs or values touch one of the boxes") {
    val someText = ValueRange.of(Interval.of(text("a")))
    assert(MustRead(test, file, boxes(Map(1 -> ValueRange.Null))))
    assert(!MustRead(test, file, boxes(Map(0 -> ValueRange.Null))))
    assert(!MustRead(test, file, boxes(Map(1 -> ValueRange.NotNull))))
    assert(!MustRead(test, file, boxes(Map(0 -> ValueRange.NotNull, 1 -> someText))))
    assert(MustRead(test, file, boxes(Map(1 -> someText), Map(0 -> between(1, 10, true)))))
    assert(MustRead(test, file, boxes(Map.empty)) && !MustRead(test, file, boxes()))
  }

  test("encoding values as numbers changes no result") {
    val random = new Random(11)
    def number() = random.nextInt(60)
    val rows = Array.fill(40)(InternalRow(
      if (random.nextInt(8) == 0) null else number(),
      if (random.nextInt(8) == 0) null else text(f"${number()}%02d")))
    val sample = RowSample(types, rows, rows.length.toLong, complete = true)
    val coded = EncodedSample.of(sample)
    val codedTest = new SkippingTest(coded.sample.dataTypes)
    (1 to 500).foreach { round =>
      val files = rows.map(_ => random.nextInt(6))
      val plain = SimulatedFile.of(sample, files)
      val numbered = SimulatedFile.of(coded.sample, files)
      assert(plain.map(_.nulls) === numbered.map(_.nulls))
      def end(value: Any) = Some(Interval.End(value, random.nextBoolean()))
      val ranges = Map(
        0 -> ValueRange(Some(Interval(end(number()), None)), random.nextBoolean()),
        1 -> ValueRange.of(Interval(None, end(text(f"${number()}%02d")))))
      val predicate = boxes(ranges)
      plain.zip(numbered).foreach { case (a, b) =>
        assert(
          MustRead(test, a, predicate) === MustRead(codedTest, b, coded.code(predicate)),
          round)
      }
    }
  }

  test("a file's ranges are those of its rows") {
    val rows = Array(
      InternalRow(3, text("b")),
      InternalRow(null, text("ab")),
      InternalRow(1, null),
      InternalRow(7, text("c")))
    val files = SimulatedFile.of(RowSample(types, rows, 4, complete = true), Array(2, 2, 2, 0))
    assert(files === Seq(
      SimulatedFile(1, Vector(7, text("c")), Vector(7, text("c")), Vector(0L, 0L)),
      SimulatedFile(3, Vector(1, text("ab")), Vector(3, text("b")), Vector(1L, 1L))
    ))
  }
}
