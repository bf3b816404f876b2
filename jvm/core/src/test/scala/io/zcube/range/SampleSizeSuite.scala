package io.zcube.range

import org.scalatest.funsuite.AnyFunSuite

class SampleSizeSuite extends AnyFunSuite {

  test("a hundred rows per range, between ten thousand and 2^20") {
    Seq(1 -> 10000, 100 -> 10000, 101 -> 10100, 1000 -> 100000, 10485 -> 1048500)
      .foreach { case (ranges, rows) => assert(SampleSize.forRanges(ranges) === rows) }
    Seq(10486, 1 << 20, Int.MaxValue)
      .foreach(ranges => assert(SampleSize.forRanges(ranges) === 1048576))
    assert(intercept[IllegalArgumentException](SampleSize.forRanges(0)).getMessage.contains("is 0"))
  }
}
