package io.zcube.range

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class OrderPreservingBitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val doubles = Gen.long.map(java.lang.Double.longBitsToDouble)
  private val floats =
    Gen.choose(Int.MinValue, Int.MaxValue).map(b => java.lang.Float.intBitsToFloat(b))

  /** SQL's order, expressed only with Scala's comparisons. */
  private def order(a: Double, b: Double): Int =
    if (a.isNaN || b.isNaN) a.isNaN.compare(b.isNaN)
    else if (a < b) -1
    else if (a > b) 1
    else 0

  private val edges = Seq(
    Double.NegativeInfinity,
    Double.MinValue,
    -1.0,
    -Double.MinPositiveValue,
    -0.0,
    0.0,
    Double.MinPositiveValue,
    1.0,
    Double.MaxValue,
    Double.PositiveInfinity,
    Double.NaN,
    java.lang.Double.longBitsToDouble(0xfff8000000000001L)
  )

  test("keys of doubles are in the order of the doubles") {
    for (a <- edges; b <- edges) assert(
      OrderPreservingBits.ofDouble(a).compare(OrderPreservingBits.ofDouble(b)) === order(a, b),
      s"$a and $b")
    forAll(doubles, doubles) { (a: Double, b: Double) =>
      assert(
        OrderPreservingBits.ofDouble(a).compare(OrderPreservingBits.ofDouble(b)) === order(a, b))
    }
  }

  test("keys of floats are in the order of the floats") {
    val all = edges.map(_.toFloat) ++ Seq(-Float.MinPositiveValue, Float.MinPositiveValue)
    for (a <- all; b <- all) assert(
      OrderPreservingBits.ofFloat(a).compare(OrderPreservingBits.ofFloat(b)) ===
        order(a.toDouble, b.toDouble),
      s"$a and $b")
    forAll(floats, floats) { (a: Float, b: Float) =>
      assert(
        OrderPreservingBits.ofFloat(a).compare(OrderPreservingBits.ofFloat(b)) ===
          order(a.toDouble, b.toDouble))
    }
  }
}
