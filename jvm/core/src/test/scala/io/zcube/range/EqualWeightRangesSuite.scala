package io.zcube.range

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class EqualWeightRangesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def ids(counts: Seq[Long], ranges: Int): Seq[Int] = {
    val bounds = LongRangeBounds(EqualWeightRanges.ends(counts.toArray, ranges).map(_.toLong))
    counts.indices.map(i => bounds.idOf(i.toLong))
  }

  private val counts = Gen.listOf(Gen.oneOf(Gen.choose(1L, 3L), Gen.choose(1L, 1000L)))
  private val ranges = Gen.oneOf(Gen.choose(1, 8), Gen.choose(1, 1 << 20))

  test("six values in 3 ranges are divided by twos") {
    val values = Array(0L, 1L, 3L, 15L, 36L, 99L)
    val ends = EqualWeightRanges.ends(Array.fill(6)(1L), 3)
    val bounds = LongRangeBounds(ends.map(values(_)))
    assert(values.toSeq.map(bounds.idOf) === Seq(0, 0, 1, 1, 2, 2))
  }

  test("no values and one value have no bounds") {
    assert(EqualWeightRanges.ends(Array.empty[Long], 5).isEmpty)
    assert(EqualWeightRanges.ends(Array(1000L), 5).isEmpty)
  }

  test("a too frequent value gets its own range, wherever it is") {
    assert(ids(Seq(1000, 1, 1, 1, 1), 3) === Seq(0, 1, 1, 2, 2))
    assert(ids(Seq(1, 1, 1000, 1, 1), 3) === Seq(0, 0, 1, 2, 2))
    assert(ids(Seq(1, 1, 1, 1, 1000), 3) === Seq(0, 0, 0, 1, 2))
  }

  test("ids ascend without gaps from 0 and stay below the number of ranges") {
    forAll(counts, ranges) { (counts: List[Long], ranges: Int) =>
      val result = ids(counts, ranges)
      assert(result.distinct === result.distinct.indices)
      assert(result === result.sorted)
      assert(result.forall(_ < ranges))
    }
  }

  test("each value has its own id if there are enough ranges; otherwise every range is used") {
    forAll(counts, ranges) { (counts: List[Long], ranges: Int) =>
      val used = ids(counts, ranges).distinct.size
      assert(used === math.min(counts.size, ranges))
    }
  }

  test("values of equal weight are divided evenly: no range is more than one value larger") {
    forAll(Gen.choose(1, 500), Gen.choose(1, 100), Gen.choose(1L, 1L << 40)) {
      (values: Int, ranges: Int, count: Long) =>
        val sizes = ids(Seq.fill(values)(count), ranges).groupBy(identity).values.map(_.size)
        assert(sizes.max - sizes.min <= 1)
    }
  }

  test("without heavy values, a range misses its fair share by less than the heaviest value") {
    // Counts up to 20 over 200 to 400 values: no value comes near to filling a range.
    val many = Gen.choose(200, 400).flatMap(Gen.listOfN(_, Gen.choose(1L, 20L)))
    forAll(many, Gen.choose(1, 10)) { (counts: List[Long], ranges: Int) =>
      val fair = counts.sum.toDouble / ranges
      ids(counts, ranges).zip(counts).groupMapReduce(_._1)(_._2)(_ + _).values.foreach { weight =>
        assert(math.abs(weight - fair) <= 20, s"fair $fair")
      }
    }
  }

  test("fewer than one range is rejected") {
    val error = intercept[IllegalArgumentException](EqualWeightRanges.ends(Array(1L), 0))
    assert(error.getMessage.contains("the number of ranges must be at least 1, but is 0"))
  }
}
