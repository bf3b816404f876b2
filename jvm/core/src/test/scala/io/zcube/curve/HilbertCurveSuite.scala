package io.zcube.curve

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

class HilbertCurveSuite extends AnyFunSuite {
  private val seed = Seed(20040381L)

  private def samples[A](gen: Gen[A], count: Int): Seq[A] =
    Iterator
      .iterate(seed)(_.next)
      .take(count)
      .map(gen.pureApply(Gen.Parameters.default, _))
      .toSeq

  private def grid(dimensions: Int, bits: Int): Iterator[Array[Int]] =
    (0 until 1 << (dimensions * bits)).iterator.map { cell =>
      Array.tabulate(dimensions)(axis => (cell >>> (axis * bits)) & ((1 << bits) - 1))
    }

  private def unsigned(bytes: Array[Byte]): BigInt = BigInt(1, bytes)

  test("F2: the 4 x 4 table and (5, 10, 20)") {
    val table = Seq(Seq(0, 1, 14, 15), Seq(3, 2, 13, 12), Seq(4, 7, 8, 11), Seq(5, 6, 9, 10))
    val curve = HilbertCurve(2, 2)
    assert((0 to 3).map(y => (0 to 3).map(x => curve.index(Array(x, y)).toInt)) == table)
    assert(HilbertCurve(3, 5).index(Array(5, 10, 20)) == 7865)
  }

  for {
    (dimensions, maxBits) <- Seq(1 -> 12, 2 -> 7, 3 -> 5, 4 -> 4, 5 -> 3, 6 -> 2, 7 -> 2, 8 -> 2, 13 -> 1)
    bits <- 1 to maxBits
  } test(s"F3: one to one with neighbours 1 apart, $dimensions dimensions of $bits bits") {
    val curve = HilbertCurve(dimensions, bits)
    val wide = WideHilbertCurve(dimensions, bits)
    val path = new Array[Array[Int]](1 << (dimensions * bits))
    grid(dimensions, bits).foreach { point =>
      val index = curve.index(point)
      assert(path(index.toInt) == null, s"index $index twice")
      path(index.toInt) = point
      assert(unsigned(wide.index(point)) == BigInt(index))
    }
    assert(path.head.forall(_ == 0), "the curve starts in the origin")
    path.zip(path.tail).foreach { case (a, b) =>
      assert(a.zip(b).map { case (x, y) => (x - y).abs }.sum == 1, s"${a.toSeq} to ${b.toSeq}")
    }
  }

  test("one dimension is the identity, up to 32 bits") {
    Seq(0, 1, 5, 1 << 30, Int.MaxValue, Int.MinValue, -1).foreach { c =>
      assert(HilbertCurve(1, 32).index(Array(c)) == (c & 0xffffffffL))
      assert(unsigned(WideHilbertCurve(1, 32).index(Array(c))) == BigInt(c & 0xffffffffL))
    }
  }

  test("large grids, long form: the paper's inverse gives the point back") {
    samples(CurveGenerators.points(63, maxDimensions = 63), 3000).foreach { case (n, bits, point) =>
      val index = HilbertCurve(n, bits).index(point.map(_.toInt).toArray)
      assert(index >= 0)
      assert(PaperHilbert.point(BigInt(index), n, bits) == point.map(BigInt(_)), s"$n x $bits")
    }
  }

  test("large grids, byte form: the paper's inverse gives the point back") {
    samples(CurveGenerators.points(400, maxDimensions = 12), 3000).foreach { case (n, bits, point) =>
      val index = WideHilbertCurve(n, bits).index(point.map(_.toInt).toArray)
      assert(index.length == (n * bits + 7) / 8)
      assert(PaperHilbert.point(unsigned(index), n, bits) == point.map(BigInt(_)), s"$n x $bits")
    }
  }

  test("the index of a point without its last bits is a prefix of its index, by whole rotations") {
    // A coarser grid sees the same curve when as many levels are dropped as bring the axes back in place.
    val coordinate = Gen.choose(0, (1 << 10) - 1)
    samples(Gen.zip(coordinate, coordinate), 500).foreach { case (x, y) =>
      val fine = HilbertCurve(2, 10).index(Array(x, y))
      val coarse = HilbertCurve(2, 8).index(Array(x >> 2, y >> 2))
      assert(fine >> 4 == coarse)
    }
  }

  test("the point is left as it was") {
    Seq(2, 3, 8).foreach { n =>
      val point = Array.tabulate(n)(i => (i * 37 + 11) & 127)
      val before = point.toVector
      HilbertCurve(n, 7).index(point)
      WideHilbertCurve(n, 7).index(point)
      assert(point.toVector == before)
    }
  }

  test("a coordinate outside of the grid is refused, with value and bits in the message") {
    Seq(Array(3, 1024), Array(3, -1)).foreach { point =>
      val long = intercept[IllegalArgumentException](HilbertCurve(2, 10).index(point))
      assert(long.getMessage.contains(s"coordinate 1 is ${point(1)}"))
      assert(long.getMessage.contains("10 bits"))
      intercept[IllegalArgumentException](WideHilbertCurve(2, 10).index(point))
    }
    assert(
      intercept[IllegalArgumentException](HilbertCurve(2, 10).index(Array(1))).getMessage
        .contains("2 coordinates"))
  }

  test("dimensions and bits out of bounds are refused") {
    Seq(0 -> 4, -1 -> 4, 2 -> 0, 2 -> 33, 2 -> 32, 64 -> 1).foreach { case (n, bits) =>
      withClue(s"$n x $bits")(intercept[IllegalArgumentException](HilbertCurve(n, bits)))
    }
    assert(HilbertCurve(63, 1).index(Array.fill(63)(0)) == 0)
    intercept[IllegalArgumentException](WideHilbertCurve(0, 4))
    intercept[IllegalArgumentException](WideHilbertCurve(4, 33))
  }
}
