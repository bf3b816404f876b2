package io.zcube.curve

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BitInterleaverSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def byStrings(values: Seq[Int]): BigInt = {
    val strings = values.map(_.toBinaryString.reverse.padTo(32, '0').reverse)
    BigInt((0 until 32).flatMap(i => strings.map(_(i))).mkString, 2)
  }

  test("F1: 214 and 97") {
    assert(BigInt(1, BitInterleaver.interleave(Array(214, 97))) === 46633)
    assert(BigInt(1, BitInterleaver.interleave(Array(97, 214))) === 30998)
  }

  test("any number of any INTs") {
    forAll(Gen.choose(1, 20).flatMap(Gen.listOfN(_, Gen.choose(Int.MinValue, Int.MaxValue)))) {
      values =>
        val bytes = BitInterleaver.interleave(values.toArray)
        assert(bytes.length === 4 * values.length)
        assert(BigInt(1, bytes) === byStrings(values))
    }
  }
}
