package io.zcube.curve

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BitInterleaverSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def byStrings(values: Seq[Int]): BigInt = {
    val strings = values.map(_.toBinaryString.reverse.padTo(32, '0').reverse)
    BigInt((0 until 32).flatMap(i => strings.map(_(i))).mkString, 2)
  }

  test("214 and 97 interleave to 46633") {
    assert(BigInt(1, BitInterleaver.interleave(Array(214, 97))) === 46633)
    assert(BigInt(1, BitInterleaver.interleave(Array(97, 214))) === 30998)
  }

  test("any number of INTs interleave like their bit strings") {
    forAll(Gen.choose(1, 20).flatMap(Gen.listOfN(_, Gen.choose(Int.MinValue, Int.MaxValue)))) {
      values =>
        val bytes = BitInterleaver.interleave(values.toArray)
        assert(bytes.length === 4 * values.length)
        assert(BigInt(1, bytes) === byStrings(values))
    }
  }

  for (count <- 1 to 9) test(s"every bit of $count values to its own place, alone and among ones") {
    for (i <- 0 until count; bit <- 0 until 32) {
      // Counted from the last bit: lower bits of all values, then the values behind this one.
      val place = BigInt(1) << (bit * count + count - 1 - i)
      val values = new Array[Int](count)
      values(i) = 1 << bit
      assert(BigInt(1, BitInterleaver.interleave(values)) === place)
      val inverted = values.map(~_)
      assert(BigInt(
        1,
        BitInterleaver.interleave(inverted)) === (BigInt(1) << (32 * count)) - 1 - place)
    }
  }

  test("the input values are not modified") {
    for (count <- 1 to 9) {
      val values = Array.tabulate(count)(_ * 0x9e3779b9 + 1)
      val before = values.toVector
      BitInterleaver.interleave(values)
      assert(values.toVector === before)
    }
  }
}
