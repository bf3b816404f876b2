package io.zcube.layout

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class RankScaleSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Rank of the value of that index, looked up as the bounds are: buckets end at their bound. */
  private def rankOf(scale: RankScale, value: Int): Int =
    scale.ranks(scale.boundIndices.count(_ < value))

  test("a value's rank is the middle of its share of the rows") {
    val scale = RankScale.of(Array(2L, 1L, 1L), 0L, 4)
    assert((0 to 2).map(rankOf(scale, _)) === Seq(1, 2, 3))
  }

  test("three values split the scale at its highest bits") {
    val scale = RankScale.of(Array(100L, 100L, 100L), 0L, 1024)
    assert((0 to 2).map(rankOf(scale, _)) === Seq(170, 512, 853))
  }

  test("NULLs take their share of the scale, below all values") {
    assert(rankOf(RankScale.of(Array(1L), 99L, 1000), 0) === 995)
  }

  test("an empty sample has one bucket") {
    assert(RankScale.of(Array(), 7L, 16).ranks.toSeq === Seq(0))
  }

  test("ranks ascend, stay on the scale, and differ where buckets do") {
    val samples = for {
      counts <- Gen.nonEmptyListOf(Gen.choose(1L, 50L))
      nulls <- Gen.choose(0L, 100L)
      scale <- Gen.choose(1, 64)
    } yield (counts.toArray, nulls, scale)
    forAll(samples) { case (counts, nulls, steps) =>
      val scale = RankScale.of(counts, nulls, steps)
      assert(scale.ranks.length === scale.boundIndices.length + 1)
      assert(scale.ranks.sliding(2).forall(w => w.length < 2 || w(0) < w(1)))
      assert(scale.ranks.forall(r => r >= 0 && r < steps))
      // The definition, in whole numbers: floor((2 * before + count) * steps / (2 * total)).
      val total = BigInt(nulls + counts.sum)
      counts.indices.foreach { i =>
        val twiceMiddle = BigInt(2 * (nulls + counts.take(i).sum) + counts(i))
        assert(rankOf(scale, i) === ((twiceMiddle * steps) / (2 * total)).toInt)
      }
    }
  }
}
