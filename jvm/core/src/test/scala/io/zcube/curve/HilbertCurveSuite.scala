package io.zcube.curve

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class HilbertCurveSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def cells(dimensions: Int, bits: Int): Iterator[Array[Int]] =
    Iterator.range(0, 1 << (dimensions * bits)).map { n =>
      Array.tabulate(dimensions)(d => (n >> (d * bits)) & ((1 << bits) - 1))
    }

  /** The cells (x, y) along the curve, composed of four smaller copies, without using bits. */
  private def glued(bits: Int): Seq[(Int, Int)] =
    (0 until bits).foldLeft(Seq((0, 0))) { (cells, level) =>
      val side = 1 << level
      cells.map(_.swap) ++
        cells.map { case (x, y) => (x, y + side) } ++
        cells.map { case (x, y) => (x + side, y + side) } ++
        cells.map { case (x, y) => (2 * side - 1 - y, side - 1 - x) }
    }

  test("the 4 x 4 grid in Skilling's orientation, and (5, 10, 20)") {
    val rows = Seq(Seq(0, 1, 14, 15), Seq(3, 2, 13, 12), Seq(4, 7, 8, 11), Seq(5, 6, 9, 10))
    val curve = HilbertCurve(2, 2)
    for (y <- 0 to 3; x <- 0 to 3) assert(curve.index(Array(x, y)) === rows(y)(x))
    assert(HilbertCurve(3, 5).index(Array(5, 10, 20)) === 7865)
  }

  for ((dimensions, bits) <- Seq(
      1 -> 6,
      2 -> 1,
      2 -> 3,
      2 -> 4,
      2 -> 7,
      3 -> 1,
      3 -> 2,
      3 -> 4,
      4 -> 1,
      4 -> 3,
      5 -> 2,
      5 -> 3,
      6 -> 2,
      7 -> 2,
      8 -> 1))
    test(s"one to one, neighbours differ by 1: $dimensions dimensions, $bits bits") {
      val curve = HilbertCurve(dimensions, bits)
      val along = new Array[Array[Int]](1 << (dimensions * bits))
      cells(dimensions, bits).foreach { cell =>
        val place = curve.index(cell).toInt
        assert(along(place) === null)
        along(place) = cell
      }
      along.zip(along.tail).foreach { case (a, b) =>
        assert(a.zip(b).map { case (p, q) => math.abs(p - q) }.sum === 1)
      }
    }

  test("two dimensions: the curve is composed of four copies of itself") {
    for (bits <- 1 to 6) {
      val curve = HilbertCurve(2, bits)
      val along = cells(2, bits).toSeq.sortBy(curve.index(_)).map(c => (c(0), c(1)))
      // Skilling's curve and the composed one may be mirrored at the diagonal.
      assert(Set(glued(bits), glued(bits).map(_.swap)).contains(along))
    }
  }

  test("tables and Skilling's loops agree on large grids, and bytes sort like longs") {
    val points = for {
      dimensions <- Gen.choose(2, 8)
      bits <- Gen.choose(1, math.min(32, 63 / dimensions))
      point <- Gen.listOfN(dimensions, Gen.choose(0L, (1L << bits) - 1))
    } yield (bits, point.map(_.toInt).toArray)
    forAll(points, minSuccessful(2000)) { case (bits, point) =>
      val index = HilbertCurve(point.length, bits).index(point)
      assert(index === SkillingTransform.index(point, bits))
      assert(BigInt(1, SkillingTransform.bytes(point, bits)) === BigInt(index))
    }
  }

  test("rejects values that don't fit") {
    Seq((0, 1), (2, 0), (2, 33), (2, 32), (64, 1)).foreach { case (dimensions, bits) =>
      assertThrows[IllegalArgumentException](HilbertCurve(dimensions, bits))
    }
  }

  test("segments have smaller bounding boxes than in Z-order") {
    // Share of the space that the bounding box of each segment of 6 points of the 4 x 4 grid covers.
    def boxes(curve: SpaceFillingCurve): Seq[Double] =
      cells(2, 2).toSeq.sortBy(curve.index(_)).sliding(6).toSeq.map { segment =>
        (0 to 1).map(d => segment.map(_(d)).max - segment.map(_(d)).min + 1).product / 16.0
      }
    assert(boxes(MortonCurve(2, 2)).max === 1.0)
    assert(boxes(HilbertCurve(2, 2)).max === 9.0 / 16)
    def mean(values: Seq[Double]) = values.sum / values.length
    assert(math.abs(mean(boxes(MortonCurve(2, 2))) - 0.64) < 0.01)
    assert(math.abs(mean(boxes(HilbertCurve(2, 2))) - 0.47) < 0.01)
  }
}
