package io.zcube.curve

import org.scalatest.funsuite.AnyFunSuite

/** Measures how well the curves keep neighbours together. */
class CurveLocalitySuite extends AnyFunSuite {
  private type Point = (Int, Int)

  private def path(curve: SpaceFillingCurve, side: Int): IndexedSeq[Point] =
    (for { x <- 0 until side; y <- 0 until side } yield (x, y)).sortBy { case (x, y) =>
      curve.index(Array(x, y))
    }

  /** Area of the bounding box of each run of 6 points, as a part of the grid. */
  private def boxes(curve: SpaceFillingCurve, side: Int): Seq[Double] =
    path(curve, side).sliding(6).map { points =>
      val (xs, ys) = points.unzip
      (xs.max - xs.min + 1) * (ys.max - ys.min + 1) / (side * side).toDouble
    }.toSeq

  private def rounded(share: Double): Double = math.round(share * 100) / 100.0

  test("segments of 6 points on a 4 x 4 grid have the published boxes") {
    val z = boxes(MortonCurve(2, 2), 4)
    val hilbert = boxes(HilbertCurve(2, 2), 4)
    assert(z.max == 1.0)
    assert(hilbert.max == 9 / 16.0)
    assert(rounded(z.sum / z.size) == 0.64)
    assert(rounded(hilbert.sum / hilbert.size) == 0.47)
  }

  test("segments of 6 points on an 8 x 8 grid have the published boxes") {
    assert(rounded(boxes(MortonCurve(2, 3), 8).max) == 0.5)
    assert(rounded(boxes(HilbertCurve(2, 3), 8).max) == 0.14)
  }

  private def filesRead(curve: SpaceFillingCurve, value: Int): Int =
    path(curve, 8).grouped(4).count { points =>
      val (xs, ys) = points.unzip
      (xs.min <= value && value <= xs.max) || (ys.min <= value && value <= ys.max)
    }

  for (value <- Seq(2, 0))
    test(s"files of 4 records read for x = $value OR y = $value") {
      assert(filesRead(LinearCurve(2, 3), value) == 9)
      assert(filesRead(MortonCurve(2, 3), value) == 7)
    }
}
