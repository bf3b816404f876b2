package io.zcube.sql.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.IntegerType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.predicates.Interval
import io.zcube.sql.predicates.Interval.End

class SampledColumnSuite extends AnyFunSuite {

  // Only even values are sampled; the buckets are 0 to 4, 6, 8 to 12, and 14 to 18.
  private val values = Seq(0, 2, 4, 6, 8, 10, 12, 14, 16, 18)
  private val bounds = Array(2, 3, 6)
  private val column =
    SampledColumn(IntegerType, (values ++ values).map(InternalRow(_)) :+ InternalRow(null), 0)

  private def bucketOf(value: Int): Int = bounds.count(at => values(at) < value)

  private def end(of: (Int, Boolean)): End = End(of._1, of._2)

  test("buckets of intervals, inclusive or exclusive, sampled or not") {
    val ends = None +: (for (value <- -1 to 19; inclusive <- Seq(true, false))
      yield Some((value, inclusive)))
    for (lower <- ends; upper <- ends) {
      def holds(value: Int): Boolean =
        lower.forall { case (low, in) => value > low || (in && value == low) } &&
          upper.forall { case (high, in) => value < high || (in && value == high) }
      val inside = values.filter(holds).map(bucketOf)
      val found = column.bucketsOf(Interval(lower.map(end), upper.map(end)), bounds)
      if (inside.nonEmpty) assert(found === ((inside.min, inside.max)), s"$lower to $upper")
      else assert(found._1 === found._2)
    }
  }

  test("an unsampled value is assigned to its bucket") {
    for (value <- -1 to 19)
      assert(column.bucketsOf(Interval.of(value), bounds) === ((bucketOf(value), bucketOf(value))))
  }

  test("a column with only NULLs has one bucket") {
    val nulls = SampledColumn(IntegerType, Seq(InternalRow(null)), 0)
    assert(nulls.bucketsOf(Interval.of(5), Array()) === ((0, 0)))
    assert(nulls.bucketsOf(Interval.Everything, Array()) === ((0, 0)))
  }
}
