package io.zcube.layout.kdtree

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.zcube.layout.{BucketedSample, CutPoints, CutRules, Layout, LayoutResult, RankScale}

class KdTreeLayoutSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** A sample in which the value is the bucket, and all buckets up to the largest exist. */
  private def sample(columns: Array[Int]*): BucketedSample =
    new BucketedSample(
      columns.toArray.map { column =>
        val buckets = math.max(1, column.max + 1)
        RankScale(Array.range(0, buckets - 1), Array.range(0, buckets))
      },
      columns.toArray)

  private def uniform(seed: Int, rows: Int, columns: Int, values: Int): BucketedSample = {
    val random = new Random(seed)
    sample(Seq.fill(columns)(Array.fill(rows)(random.nextInt(values))): _*)
  }

  private def layOut(sample: BucketedSample, files: Int, weights: Double*): LayoutResult =
    KdTreeLayout.of(sample, files, CutRules(), weights)

  /** The file of each sampled row, its noise drawn at random. */
  private def filesOf(sample: BucketedSample, laidOut: LayoutResult): Array[Int] = {
    val random = new Random(9)
    sample.keys(laidOut.layout).map(laidOut.cuts.fileOf(_, random.nextInt(CutPoints.NoiseRange)))
  }

  private def sizes(sample: BucketedSample, laidOut: LayoutResult): Seq[Int] = {
    val counts = new Array[Int](laidOut.cuts.files)
    filesOf(sample, laidOut).foreach(counts(_) += 1)
    counts.toSeq
  }

  /** For each file, the extent of its rows in a column, without NULLs. */
  private def extents(sample: BucketedSample, laidOut: LayoutResult, column: Int): Seq[(Int, Int)] =
    filesOf(sample, laidOut).zip(sample.buckets(column)).filter(_._2 >= 0).groupBy(_._1).values
      .map(rows => (rows.map(_._2).min, rows.map(_._2).max)).toSeq

  private def tree(laidOut: LayoutResult): KdTree = laidOut.layout match {
    case layout: KdTreeLayout => layout.tree
    case other => fail(s"no tree: $other")
  }

  test("a point is in the box that the tree's cuts say") {
    val tree = new KdTree(Array(0, 5, 1, ~2, 1, 2, ~0, ~1))
    assert(tree.boxes === 3)
    for (x <- 0 to 10; y <- 0 to 10) {
      val expected = if (x > 5) 2 else if (y <= 2) 0 else 1
      assert(tree.boxOf(Array(x, y)) === expected)
    }
    assert(new KdTree(Array()).boxOf(Array(7)) === 0)
  }

  test("boxes alone: a hand-written tree needs only the bounds that it cuts at") {
    // Column 0 is cut at rank 5, and below that at NULL; column 1 at ranks 9 and, twice, 2.
    val tree = new KdTree(Array(0, 5, 1, 3, 1, 2, 2, ~2, 0, 0, ~0, ~1, 1, 9, 4, ~5, 1, 2, ~3, ~4))
    val boxes = KdTreeBoxes.of(tree, 3)
    assert(boxes.bounds.map(_.toSeq) === Seq(Seq(4), Seq(1, 8), Nil))
    assert((0 to 2).map(boxes.ranks(_).toSeq) === Seq(Seq(1, 2), Seq(1, 2, 3), Seq(1)))
    def numbers(x: Int): Seq[Long] = (0 to 3).map(y => boxes.keyOf(Array(x, y, 1)))
    assert(numbers(0) === Seq(0, 0, 2, 2))
    assert(numbers(1) === Seq(1, 1, 2, 2))
    assert(numbers(2) === Seq(3, 3, 4, 5))
  }

  test("exactly as many files as wanted, all even, for any number") {
    for (columns <- 1 to 4; files <- Seq(1, 2, 3, 7, 17, 64, 100, 200)) {
      val points = uniform(files, 20000, columns, 5000)
      val laidOut = layOut(points, files)
      assert(laidOut.cuts.files === files)
      assert(!laidOut.cuts.splitsKeys)
      val mean = 20000.0 / files
      assert(sizes(points, laidOut).forall(n => n > 0.88 * mean && n < 1.12 * mean))
    }
  }

  test("the tree alone finds the same file as the key, also for unsampled points") {
    var alone = 0
    for (columns <- 1 to 4; files <- Seq(1, 2, 7, 64); values <- Seq(1, 5, 3000); seed <- 1 to 3) {
      val points = uniform(seed, 3000, columns, values)
      val laidOut = layOut(points, files)
      val random = new Random(seed)
      laidOut.files.foreach { numbers =>
        alone += 1
        assert(!laidOut.cuts.splitsKeys)
        for (_ <- 1 to 1000) {
          val point = Array.fill(columns)(random.nextInt(values + 2))
          val byKey = laidOut.cuts.fileOf(laidOut.layout.keyOf(point.clone()), 0)
          // NULL stays; a value comes after the bounds of the buckets before its own.
          val among = point.zip(numbers.bounds).map { case (rank, bounds) =>
            if (rank == Layout.NullRank) rank else 1 + bounds.count(_ < rank - 1)
          }
          assert(numbers.keyOf(among) === byKey)
        }
      }
      if (values == 3000 || files == 1) assert(laidOut.files.isDefined)
      // A value that fills many files: they are pieces of one box.
      if (values == 1 && files > 1) assert(laidOut.files.isEmpty)
    }
    assert(alone > 60)
  }

  test("boxes tile the space: each point, sampled or not, is in one box, and boxes don't overlap") {
    val cases = for {
      columns <- Gen.choose(1, 3)
      files <- Gen.choose(1, 12)
      values <- Gen.choose(1, 8)
      rows <- Gen.choose(1, 200)
      seed <- Gen.choose(0, 1000000)
    } yield (columns, files, values, rows, seed)
    forAll(cases) { case (columns, files, values, rows, seed) =>
      val points = uniform(seed, rows, columns, values)
      val found = tree(layOut(points, files))
      // All points of the grid, grouped by box; each box must be a full product.
      val grid = (0 until columns).foldLeft(Seq(Seq.empty[Int])) { (partial, _) =>
        partial.flatMap(p => (0 to values).map(p :+ _))
      }
      val boxes = grid.groupBy(p => found.boxOf(p.toArray))
      assert(boxes.keySet === (0 until found.boxes).toSet)
      boxes.values.foreach { members =>
        val volume = (0 until columns).map(c => members.map(_(c)).distinct)
        assert(members.size === volume.map(_.size).product)
        volume.foreach(side => assert(side.max - side.min + 1 === side.size))
      }
    }
  }

  test("the box comes first in a key, and rows of one box are in order by all columns") {
    val points = uniform(3, 20000, 2, 4000)
    val laidOut = layOut(points, 10)
    val keys = points.keys(laidOut.layout)
    val boxes = (0 until points.size).map { row =>
      tree(laidOut).boxOf(points.buckets.map(_(row) + 1))
    }
    keys.zip(boxes).groupBy(_._2).toSeq.sortBy(_._1).map(_._2.map(_._1)).sliding(2).foreach {
      case Seq(low, high) => assert(low.max < high.min)
      case _ =>
    }
    // A quarter of a box's rows, in their order, spans about a quarter of it and not half of it.
    val sides = (0 until points.size).groupBy(boxes(_)).values.map { rows =>
      val sorted = rows.sortBy(keys(_))
      def area(of: Seq[Int]): Double = points.buckets.map { column =>
        (of.map(column(_)).max - of.map(column(_)).min).toDouble
      }.product
      sorted.grouped((rows.size + 3) / 4).map(area).sum / area(sorted)
    }
    assert(sides.sum / sides.size < 1.4)
  }

  test("a column is cut where it is widest, weights counted") {
    def cutsOf(weights: Double*): Seq[Int] = {
      val points = uniform(1, 40000, 2, 3000)
      val laidOut = layOut(points, 64, weights: _*)
      // Files that a value of the column is in, on average: less where it is cut more often.
      Seq(0, 1).map(c => extents(points, laidOut, c).map { case (a, b) => b - a }.sum / 3000)
    }
    val Seq(x, y) = cutsOf()
    assert(math.abs(x - y) <= 2)
    // With weights w the best is w_x / w_y times as many cuts of x: 16 × 4 against 8 × 8.
    val Seq(weighted, rest) = cutsOf(4, 1)
    assert(weighted <= 5 && rest >= 14)
    assert(cutsOf(5, 5) === Seq(x, y))
  }

  test("a low-cardinality column is cut only between its values") {
    val random = new Random(4)
    val few = Array.fill(30000)(random.nextInt(3))
    val points = sample(few, Array.fill(30000)(random.nextInt(5000)))
    val laidOut = layOut(points, 30)
    assert(laidOut.cuts.files === 30)
    assert(extents(points, laidOut, 0).forall { case (low, high) => low == high })
    assert(sizes(points, laidOut).forall(n => n > 800 && n < 1200))
  }

  test("a value is kept whole if a cut between values is close enough") {
    // 10 values of 100 rows in 4 files: even cuts would go through the 3rd and the 8th value.
    val points = sample(Array.tabulate(1000)(_ / 100))
    val laidOut = layOut(points, 4)
    assert(!laidOut.cuts.splitsKeys)
    assert(sizes(points, laidOut).sorted === Seq(200, 200, 300, 300))
  }

  test("a too frequent combination is spread over its share of the files, others stay separate") {
    val random = new Random(6)
    def column = Array.tabulate(40000)(i => if (i < 24000) 7 else random.nextInt(2000))
    val points = sample(column, column)
    val laidOut = layOut(points, 20)
    assert(laidOut.cuts.files === 20)
    val files = filesOf(points, laidOut)
    val holding = files.take(24000).distinct
    assert(holding.length >= 11 && holding.length <= 14)
    assert(sizes(points, laidOut).forall(n => n > 1200 && n < 2800))
    val whole = KdTreeLayout.of(points, 20, CutRules(splitsValues = false), Nil)
    assert(filesOf(points, whole).take(24000).distinct.length === 1)
    assert(!whole.cuts.splitsKeys)
  }

  test("NULLs get separate files when there are enough of them") {
    val random = new Random(8)
    def nullable = Array.fill(50000)(if (random.nextInt(5) == 0) -1 else random.nextInt(3000))
    val points = sample(nullable, nullable)
    val files = filesOf(points, layOut(points, 100))
    val nulls = files.zip(points.buckets(0)).groupBy(_._1).values
      .map(rows => rows.count(_._2 < 0).toDouble / rows.length)
    // A fifth of 100 files is 20.
    assert(nulls.count(_ == 1.0) >= 15)
    assert(nulls.count(share => share > 0 && share < 1) <= 5, nulls.filter(x => x > 0 && x < 1))
  }

  test("correlated columns: cutting one cuts the other") {
    val random = new Random(5)
    val x = Array.fill(40000)(random.nextInt(4000))
    val points = sample(x, x.map(v => math.max(0, math.min(3999, v + random.nextInt(80) - 40))))
    val laidOut = layOut(points, 50)
    for (c <- 0 to 1) {
      val mean = extents(points, laidOut, c).map { case (a, b) => b - a }.sum / 50.0
      assert(mean < 4000 / 50 * 2.1)
    }
  }

  test("an empty sample, one row, all rows equal, more files than rows") {
    assert(layOut(sample(Array(0)), 1).cuts.files === 1)
    val equal = sample(Array.fill(1000)(0), Array.fill(1000)(-1))
    assert(layOut(equal, 4).cuts.files === 4)
    assert(layOut(uniform(1, 3, 2, 10), 5).cuts.files >= 3)
    val empty = new BucketedSample(Array(RankScale(Array(), Array(0))), Array(Array.emptyIntArray))
    assert(layOut(empty, 3).layout.keyOf(Array(1)) >= 0)
  }

  test("up to 63 columns have room") {
    val points = uniform(2, 500, 63, 2)
    val laidOut = layOut(points, 40)
    assert(points.keys(laidOut.layout).forall(_ >= 0))
    assert(laidOut.cuts.files === 40)
  }
}
