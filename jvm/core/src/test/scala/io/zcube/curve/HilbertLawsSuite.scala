package io.zcube.curve

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

/** Compares every table and both forms of the index with the paper's inverse ([[PaperHilbert]]). */
class HilbertLawsSuite extends AnyFunSuite {
  private val seed = Seed(20040381L)

  private def samples[A](gen: Gen[A], count: Int): Seq[A] =
    Iterator.iterate(seed)(_.next).take(count).map(gen.pureApply(Gen.Parameters.default, _)).toSeq

  private def unsigned(bytes: Array[Byte]): BigInt = BigInt(1, bytes)

  for {
    (dimensions, maxBits) <- Seq(1 -> 12, 2 -> 7, 3 -> 5, 4 -> 4, 5 -> 3, 6 -> 3, 7 -> 2, 13 -> 1)
    bits <- 1 to maxBits
  } test(s"every point of $dimensions dimensions of $bits bits, as long and as bytes") {
    val curve = HilbertCurve(dimensions, bits)
    val wide = WideHilbertCurve(dimensions, bits)
    (0 until 1 << (dimensions * bits)).foreach { index =>
      val point = PaperHilbert.point(BigInt(index), dimensions, bits).map(_.toInt).toArray
      assert(curve.index(point) == index, point.toSeq)
      assert(unsigned(wide.index(point)) == index, point.toSeq)
    }
  }

  test("keys of large grids are the paper's points") {
    samples(CurveGenerators.points(63, maxDimensions = 63), 3000).foreach { case (n, bits, point) =>
      val index = HilbertCurve(n, bits).index(point.map(_.toInt).toArray)
      assert(index >= 0)
      assert(PaperHilbert.point(BigInt(index), n, bits) == point.map(BigInt(_)), s"$n x $bits")
    }
  }

  test("large grids, byte form: whole bytes, no more than needed") {
    samples(CurveGenerators.points(400, maxDimensions = 12), 3000).foreach {
      case (n, bits, point) =>
        val index = WideHilbertCurve(n, bits).index(point.map(_.toInt).toArray)
        assert(index.length == (n * bits + 7) / 8)
        assert(PaperHilbert.point(unsigned(index), n, bits) == point.map(BigInt(_)), s"$n x $bits")
    }
  }

  for (dimensions <- 2 to 6) test(s"$dimensions dimensions, every number of bits, both forms") {
    (1 to 32).foreach { bits =>
      val random = new Random(31L * dimensions + bits)
      (1 to 40).foreach { _ =>
        val point = Array.fill(dimensions)(random.nextInt() >>> (32 - bits))
        val expected = point.toSeq.map(c => BigInt(c & 0xffffffffL))
        val bytes = WideHilbertCurve(dimensions, bits).index(point)
        assert(PaperHilbert.point(unsigned(bytes), dimensions, bits) == expected, s"$bits bits")
        if (dimensions * bits <= 63)
          assert(
            BigInt(HilbertCurve(dimensions, bits).index(point)) == unsigned(bytes),
            s"$bits bits")
      }
    }
  }

  test("a serialized curve still works, before and after its first point") {
    Seq(1, 2, 3, 4, 5, 7).foreach { n =>
      val point = Array.fill(n)(5)
      val curve = HilbertCurve(n, 3)
      val wide = WideHilbertCurve(n, 3)
      val unused = (sent(curve), sent(wide))
      val index = curve.index(point)
      val bytes = wide.index(point).toSeq
      assert(unused._1.index(point) == index && sent(curve).index(point) == index)
      assert(unused._2.index(point).toSeq == bytes && sent(wide).index(point).toSeq == bytes)
    }
  }

  private def sent[A](value: A): A = {
    val buffer = new ByteArrayOutputStream()
    new ObjectOutputStream(buffer).writeObject(value)
    new ObjectInputStream(new ByteArrayInputStream(buffer.toByteArray)).readObject().asInstanceOf[A]
  }

  test("one dimension is the identity, up to 32 bits") {
    Seq(0, 1, 5, 1 << 30, Int.MaxValue, Int.MinValue, -1).foreach { c =>
      assert(HilbertCurve(1, 32).index(Array(c)) == (c & 0xffffffffL))
      assert(unsigned(WideHilbertCurve(1, 32).index(Array(c))) == BigInt(c & 0xffffffffL))
    }
  }

  test("the point is not modified") {
    Seq(2, 3, 4, 8).foreach { n =>
      val point = Array.tabulate(n)(i => (i * 37 + 11) & 127)
      val before = point.toVector
      HilbertCurve(n, 7).index(point)
      WideHilbertCurve(n, 7).index(point)
      assert(point.toVector == before)
    }
  }

  test("a grid without dimensions or with too many bits is rejected") {
    Seq(0 -> 4, 4 -> 33, 4 -> 0).foreach { case (n, bits) =>
      withClue(s"$n x $bits")(intercept[IllegalArgumentException](WideHilbertCurve(n, bits)))
    }
  }
}
