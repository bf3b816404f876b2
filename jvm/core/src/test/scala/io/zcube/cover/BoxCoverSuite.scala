package io.zcube.cover

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class BoxCoverSuite extends AnyFunSuite {

  private def contains(box: RankBox, item: RankBox): Boolean = box.low.indices.forall(d =>
    box.low(d) <= item.low(d) && item.high(d) <= box.high(d))

  private def box(ranges: (Int, Int)*) =
    new RankBox(ranges.map(_._1).toArray, ranges.map(_._2).toArray)

  private def point(at: Int*) = box(at.map(x => (x, x)): _*)

  test("the example of the scaladoc makes the boxes that it says") {
    val files = Array(box((0, 9)), box((10, 49)), box((50, 99)))
    val boxes = BoxCover.of(Array(point(1), point(2), point(90)), files, 2)
    assert(boxes.toSet == Set(box((1, 2)), point(90)))
  }

  test(
    "every item is covered by at most the given boxes, and no file touched that one box avoids") {
    for (seed <- 0 until 400) {
      val random = new Random(seed)
      val dimensions = 1 + random.nextInt(3)
      val span = 10 + random.nextInt(1000)
      def randomBox(width: Int) = box(Seq.fill(dimensions) {
        val low = random.nextInt(span)
        (low, low + random.nextInt(width))
      }: _*)
      val items = Array.fill(1 + random.nextInt(150))(randomBox(1 + random.nextInt(4)))
      val files = Array.fill(random.nextInt(80))(randomBox(1 + span / 10))
      val most = 1 + random.nextInt(70)
      val boxes = BoxCover.of(items, files, most)
      assert(boxes.length <= most, seed)
      assert(items.forall(item => boxes.exists(contains(_, item))), seed)
      assert(boxes.forall(b => items.exists(contains(b, _))), seed)
      val one = Array(RankBox.around(items, 0, items.length))
      assert(BoxCover.touched(boxes, files) <= BoxCover.touched(one, files), seed)
      if (most >= items.distinct.length) assert(boxes.toSet == items.toSet, seed)
    }
  }

  test("in one dimension no other choice of as many boxes saves more files") {
    for (seed <- 0 until 300) {
      val random = new Random(seed)
      val points = Array.fill(2 + random.nextInt(8))(random.nextInt(60)).distinct.sorted
      val cuts = Array.fill(12)(random.nextInt(60)).distinct.sorted
      val files = cuts.zip(cuts.tail).map { case (low, next) => box((low, next - 1)) }
      val most = 1 + random.nextInt(5)
      val boxes = BoxCover.of(points.map(point(_)), files, most)
      // All ways to cut the sorted points.
      val fewest = (1 until points.length).toSet.subsets().filter(_.size < most).map { at =>
        val edges = (at.toSeq :+ 0 :+ points.length).sorted
        val tried = edges.zip(edges.tail).map { case (from, until) =>
          box((points(from), points(until - 1)))
        }
        BoxCover.touched(tried.toArray, files)
      }.min
      assert(BoxCover.touched(boxes, files) == fewest, seed)
    }
  }

  test("for clusters of points in two dimensions, all grid files without points are saved") {
    val random = new Random(1)
    val files = for {
      x <- Array.range(0, 20)
      y <- Array.range(0, 20)
    } yield box((x * 50, x * 50 + 49), (y * 50, y * 50 + 49))
    val points = Array.fill(30)((random.nextInt(950), random.nextInt(950))).flatMap { case (x, y) =>
      Array.fill(40)(point(x + random.nextInt(50), y + random.nextInt(50)))
    }
    val needed = files.count(file => points.exists(_.touches(file)))
    val touched = BoxCover.touched(BoxCover.of(points, files, 64), files)
    assert(touched <= needed * 1.1, s"$touched of $needed")
  }

  test("overlapping files are distinguished from disjoint files") {
    val beside = Array.tabulate(100)(i => box((i * 10, i * 10 + 9)))
    assert(BoxCover.overlap(beside) == 0.01)
    val over = Array.tabulate(100)(i => box((i % 7, 1000 - i % 5)))
    assert(BoxCover.overlap(over) == 1.0)
    assert(BoxCover.overlap(Array.empty) == 1.0)
  }
}
