package io.zcube.layout

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class CutPointsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def sizes(cuts: CutPoints, keys: Seq[Long]): Seq[Int] = {
    val random = new Random(5)
    val files = keys.map(cuts.fileOf(_, random.nextInt(CutPoints.NoiseRange)))
    (0 until cuts.files).map(f => files.count(_ == f))
  }

  test("the file of a key is the number of cuts at or below it") {
    val cases = for {
      cuts <- Gen.listOf(Gen.zip(Gen.choose(0L, 20L), Gen.oneOf(0, 100, 30000)))
      key <- Gen.choose(-1L, 21L)
      noise <- Gen.choose(0, CutPoints.NoiseRange - 1)
    } yield (cuts.distinct.sorted, key, noise)
    forAll(cases) { case (cuts, key, noise) =>
      val below = cuts.count { case (k, n) => k < key || (k == key && n <= noise) }
      assert(CutPoints.at(cuts).fileOf(key, noise) === below)
    }
  }

  test("different keys: even files, no key split") {
    val keys = Seq.tabulate(100000)(i => i.toLong * 7)
    Seq(1, 2, 3, 17, 64, 200).foreach { files =>
      val cuts = CutPoints.of(keys.toArray, files)
      assert(!cuts.splitsKeys)
      assert(cuts.files === files)
      val mean = keys.length.toDouble / files
      assert(sizes(cuts, keys).forall(n => n > 0.87 * mean && n < 1.13 * mean))
    }
  }

  test("where rows are limited, cuts of different keys keep close to their even positions") {
    val keys = Seq.tabulate(100000)(i => i.toLong * 7)
    for (files <- Seq(57, 95, 127); splits <- Seq(true, false)) {
      val cuts = CutPoints.of(keys.toArray, files, CutRules(splits, isTight = true))
      assert(sizes(cuts, keys).max <= 1.045 * keys.length / files)
    }
  }

  test("cuts move to the coarsest nearby boundary of the curve") {
    // 1000 keys in 4 files: 256 = 2^8 is within 6 % of a file of 250, 512 and 768 likewise.
    val cuts = CutPoints.of(Array.tabulate(1000)(_.toLong), 4)
    assert(cuts.cuts.map(_._1).head === 256L)
  }

  test("a too frequent key is spread evenly, or kept whole") {
    val keys = Seq.fill(6000)(50L) ++ Seq.tabulate(4000)(i => 100L + i)
    val spread = CutPoints.of(keys.toArray, 10)
    assert(spread.splitsKeys)
    assert(sizes(spread, keys).forall(n => n > 800 && n < 1200))
    val whole = CutPoints.of(keys.toArray, 10, CutRules(splitsValues = false))
    assert(!whole.splitsKeys)
    assert(keys.filter(_ == 50L).map(whole.fileOf(_, 0)).distinct.length === 1)
  }

  test("a constant column still makes as many files as wanted") {
    val keys = Seq.fill(5000)(3L)
    assert(sizes(CutPoints.of(keys.toArray, 5), keys).forall(n =>
      n > 850 && n < 1150))
    assert(CutPoints.of(keys.toArray, 5, CutRules(splitsValues = false)).files === 1)
  }

  test("few distinct keys stay whole where that costs little") {
    val keys = Seq.tabulate(10000)(i => (i % 100).toLong)
    val cuts = CutPoints.of(keys.toArray, 24)
    val mean = keys.length / 24.0
    assert(sizes(cuts, keys).forall(n => n > 0.7 * mean && n < 1.25 * mean))
  }

  test("a sample smaller than its files has fewer files") {
    assert(CutPoints.of(Array(), 5).files === 1)
    assert(CutPoints.of(Array(1L, 2L, 3L), 3).cuts.map(_._1) === Seq(2L, 3L))
    assert(CutPoints.of(
      Array(Long.MaxValue, Long.MaxValue),
      2,
      CutRules(splitsValues = false)).files === 1)
  }
}
