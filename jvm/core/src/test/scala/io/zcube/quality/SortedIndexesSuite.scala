package io.zcube.quality

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class SortedIndexesSuite extends AnyFunSuite {

  private val random = new Random(11)

  /** Keys that come close together, far apart, and as far as numbers go. */
  private val kinds: Seq[(String, () => Long)] = Seq(
    "few" -> (() => random.nextInt(5).toLong),
    "negative" -> (() => -random.nextInt(1000000).toLong),
    "any" -> (() => random.nextLong()),
    "the ends" -> (() => Seq(Long.MinValue, Long.MaxValue, 0L, -1L)(random.nextInt(4))),
    // Alike in all bits that a packed key has room for.
    "near each other, but for one" -> (() =>
      if (random.nextInt(500) == 0) Long.MaxValue else Long.MinValue + random.nextInt(50))
  )

  for ((name, draw) <- kinds) test(s"by keys that are $name") {
    for (size <- Seq(0, 1, 2, 1000, 20000)) {
      val keys = Array.fill(size)(draw())
      val indexes = random.shuffle(keys.indices.toVector).toArray
      val sorted = SortedIndexes.of(indexes, i => keys(i))
      assert(sorted.map(keys).sameElements(keys.sorted))
      assert(sorted.sorted.sameElements(keys.indices))
      val reversed = SortedIndexes.of(indexes, i => keys(i), Some((a, b) => b - a))
      assert(reversed.sameElements(keys.indices.sortBy(i => (keys(i), -i))))
    }
  }

  test("only the given indexes are sorted") {
    val keys = Array(5L, 1L, 4L, 3L)
    assert(SortedIndexes.of(Array(3, 0, 2), i => keys(i)).toSeq == Seq(3, 2, 0))
  }
}
