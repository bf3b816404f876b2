package io.zcube.planning

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class BinPackingSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("bins keep the order of items, and only single items exceed the capacity") {
    forAll(Gen.listOf(Gen.choose(0L, 120L)), Gen.choose(1L, 300L)) { (weights, capacity) =>
      val bins = BinPacking.pack(weights, capacity)(identity)
      assert(bins.flatten == weights)
      assert(bins.forall(_.nonEmpty))
      assert(bins.forall(bin => bin.size == 1 || bin.sum <= capacity))
    }
  }

  test("bins are even, so that the last isn't tiny") {
    assert(BinPacking.pack(Seq.fill(11)(1L), 10)(identity).map(_.size) == Seq(6, 5))
    assert(BinPacking.pack(Seq(4L, 4L, 4L, 4L), 10)(identity).map(_.size) == Seq(2, 2))
  }

  test("no items make no bins") {
    assert(BinPacking.pack(Seq.empty[Long], 10)(identity).isEmpty)
  }
}
