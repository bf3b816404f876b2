package io.zcube.curve

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class MortonCurveSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val points = for {
    dimensions <- Gen.choose(1, 10)
    bits <- Gen.choose(1, math.min(32, 63 / dimensions))
    point <- Gen.listOfN(dimensions, Gen.choose(0L, (1L << bits) - 1))
  } yield (bits, point)

  private def binary(value: Long, bits: Int): String =
    value.toBinaryString.reverse.padTo(bits, '0').reverse

  test("Z-order interleaves the bit strings") {
    forAll(points) { case (bits, point) =>
      val strings = point.map(binary(_, bits))
      val turns = (0 until bits).flatMap(i => strings.map(_(i))).mkString
      assert(MortonCurve(point.length, bits).index(point.map(_.toInt).toArray) === BigInt(
        turns,
        2).toLong)
    }
  }

  test("linear order concatenates the bit strings") {
    forAll(points) { case (bits, point) =>
      val all = point.map(binary(_, bits)).mkString
      assert(LinearCurve(point.length, bits).index(point.map(_.toInt).toArray) === BigInt(
        all,
        2).toLong)
    }
  }
}
