package io.zcube.range

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class LongRangeBoundsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val edges =
    Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue)
  private val value: Gen[Long] =
    Gen.oneOf(Gen.oneOf(edges), Gen.choose(-20L, 20L), Gen.long)

  test("the id of a value is the number of bounds strictly below it") {
    forAll(Gen.listOf(value), Gen.listOf(value)) { (bounds: List[Long], values: List[Long]) =>
      val distinct = bounds.distinct.sorted
      val ranges = LongRangeBounds(distinct.toArray)
      (values ++ distinct ++ edges).foreach { v =>
        assert(ranges.idOf(v) === distinct.count(_ < v), s"value $v, bounds $distinct")
      }
    }
  }

  test("every number of bounds up to 70, every value at, below and above a bound") {
    (0 to 70).foreach { n =>
      val ranges = LongRangeBounds(Array.tabulate(n)(_ * 2L))
      (0 until n).foreach { i =>
        assert(ranges.idOf(i * 2L - 1) === i)
        assert(ranges.idOf(i * 2L) === i)
      }
      assert(ranges.idOf(n * 2L) === n)
    }
  }

  test("bounds that are not strictly ascending are rejected") {
    Seq(Array(1L, 1L), Array(2L, 1L)).foreach { bounds =>
      val error = intercept[IllegalArgumentException](LongRangeBounds(bounds))
      assert(error.getMessage.contains(s"bound 0 is ${bounds(0)} and bound 1 is ${bounds(1)}"))
    }
  }

  test("bounds don't change when the caller's array changes, or when serialized") {
    val array = Array(1L, 15L)
    val ranges = LongRangeBounds(array)
    array(0) = 14L
    assert(ranges.idOf(2L) === 1)

    val buffer = new ByteArrayOutputStream()
    new ObjectOutputStream(buffer).writeObject(ranges)
    val back = new ObjectInputStream(new ByteArrayInputStream(buffer.toByteArray)).readObject()
    assert(back === ranges)
    assert(back.hashCode === ranges.hashCode)
    assert(ranges !== LongRangeBounds(Array(1L, 16L)))
    assert(ranges.toString === "LongRangeBounds(2 bounds)")
  }
}
