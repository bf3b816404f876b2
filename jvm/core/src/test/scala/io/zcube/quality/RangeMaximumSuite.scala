package io.zcube.quality

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class RangeMaximumSuite extends AnyFunSuite {

  test("the maximum of any run, compared with brute force") {
    val random = new Random(3)
    for (size <- Seq(1, 2, 63, 64, 65, 128, 129, 700, 5000)) {
      val values = Array.fill(size)(random.nextInt())
      val maximum = new RangeMaximum(values)
      for (_ <- 1 to 500) {
        val Seq(from, to) = Seq.fill(2)(random.nextInt(size)).sorted
        assert(maximum(from, to) == values.slice(from, to + 1).max)
      }
      assert(maximum(0, size - 1) == values.max)
    }
  }
}
