package io.zcube.curve

import org.scalacheck.Gen

object CurveGenerators {

  /** Dimensions, bits and a point on that grid; 32-bit coordinates come as bit patterns. */
  def points(maxTotalBits: Int, maxDimensions: Int = 9): Gen[(Int, Int, Vector[Long])] =
    for {
      dimensions <- Gen.choose(1, maxDimensions.min(maxTotalBits))
      bits <- Gen.choose(1, 32.min(maxTotalBits / dimensions))
      point <- Gen.listOfN(dimensions, coordinate(bits))
    } yield (dimensions, bits, point.toVector)

  private def coordinate(bits: Int): Gen[Long] =
    Gen.frequency(
      8 -> Gen.choose(0L, (1L << bits) - 1),
      1 -> Gen.const(0L),
      1 -> Gen.const((1L << bits) - 1))
}
