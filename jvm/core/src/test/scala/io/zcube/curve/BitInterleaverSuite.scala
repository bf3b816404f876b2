package io.zcube.curve

import org.scalacheck.{Arbitrary, Gen}
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

class BitInterleaverSuite extends AnyFunSuite {
  private val seed = Seed(1966L)

  /** The oracle works on strings of '0' and '1'. */
  private def interleavedDigits(columns: Seq[String]): String = columns.transpose.map(_.mkString).mkString

  private def digits(value: Int, bits: Int): String =
    (value.toBinaryString.reverse.padTo(32, '0').take(bits)).reverse

  private def samples[A](gen: Gen[A], count: Int): Seq[A] =
    Iterator.iterate(seed)(_.next).take(count).map(gen.pureApply(Gen.Parameters.default, _)).toSeq

  private def digits(bytes: Array[Byte]): String = bytes.map(b => digits(b & 0xff, 8)).mkString

  test("F1: 214 and 97 give 46633, 97 and 214 give 30998") {
    assert(BigInt(BitInterleaver.interleave(Array(214, 97)).takeRight(2)) == BigInt(46633 - 65536))
    assert(BitInterleaver.interleave(Array(214, 97)).toSeq == Seq[Byte](0, 0, 0, 0, 0, 0, 0xb6.toByte, 0x29))
    assert(BigInt(1, BitInterleaver.interleave(Array(97, 214))) == 30998)
    assert(MortonCurve(2, 8).index(Array(214, 97)) == 46633)
  }

  test("any number of columns, any bit pattern: same digits as the strings") {
    val gen = Gen.choose(1, 20).flatMap(Gen.listOfN(_, Arbitrary.arbInt.arbitrary))
    samples(gen, 2000).foreach { values =>
      val result = BitInterleaver.interleave(values.toArray)
      assert(result.length == 4 * values.size)
      assert(digits(result) == interleavedDigits(values.map(digits(_, 32))), values)
    }
  }

  test("every column by itself, at both ends of the range") {
    for { columns <- 1 to 12; column <- 0 until columns; value <- Seq(1, -1, Int.MinValue, Int.MaxValue) } {
      val values = Array.fill(columns)(0)
      values(column) = value
      val expected = interleavedDigits(values.toSeq.map(digits(_, 32)))
      assert(digits(BitInterleaver.interleave(values)) == expected)
    }
  }

  test("no column gives no byte") {
    assert(BitInterleaver.interleave(Array.empty[Int]).isEmpty)
  }

  test("MortonCurve: same digits as the strings, up to 63 bits") {
    samples(CurveGenerators.points(63, maxDimensions = 63), 2000).foreach { case (n, bits, point) =>
      val values = point.map(_.toInt)
      val expected = BigInt(interleavedDigits(values.map(digits(_, bits))), 2)
      assert(BigInt(MortonCurve(n, bits).index(values.toArray)) == expected, s"$n x $bits $point")
    }
  }

  test("LinearCurve: the digits one after the other") {
    samples(CurveGenerators.points(63, maxDimensions = 63), 2000).foreach { case (n, bits, point) =>
      val values = point.map(_.toInt)
      val expected = BigInt(values.map(digits(_, bits)).mkString, 2)
      assert(BigInt(LinearCurve(n, bits).index(values.toArray)) == expected, s"$n x $bits $point")
    }
  }

  test("points off the grid and grids that are too big are refused") {
    Seq[(Int, Int) => SpaceFillingCurve](MortonCurve(_, _), LinearCurve(_, _)).foreach { curve =>
      intercept[IllegalArgumentException](curve(2, 3).index(Array(0, 8)))
      intercept[IllegalArgumentException](curve(2, 3).index(Array(0, -1)))
      intercept[IllegalArgumentException](curve(2, 3).index(Array(0, 0, 0)))
      Seq(2 -> 32, 64 -> 1, 0 -> 1, 1 -> 0, 1 -> 33).foreach { case (n, bits) =>
        withClue(s"$n x $bits")(intercept[IllegalArgumentException](curve(n, bits)))
      }
      assert(curve(1, 32).index(Array(-1)) == 4294967295L)
    }
  }
}
