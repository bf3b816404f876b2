package io.zcube.layout.kdtree

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.Workload.{Box, Query}
import io.zcube.layout.{BucketedSample, CutPoints, CutRules, LayoutResult, RankScale, Workload}

class WorkloadTreeSuite extends AnyFunSuite {

  /** The value is the bucket, -1 is NULL; ranks are one more. */
  private def sample(columns: Array[Int]*): BucketedSample =
    new BucketedSample(
      columns.toArray.map { column =>
        val buckets = math.max(1, column.max + 1)
        RankScale(Array.range(0, buckets - 1), Array.range(0, buckets))
      },
      columns.toArray)

  private def points(sample: BucketedSample): Array[Array[Int]] = sample.buckets.map(_.map(_ + 1))

  private def layOut(sample: BucketedSample, files: Int, workload: Workload): LayoutResult =
    KdTreeLayout.of(sample, files, CutRules(), Nil, workload)

  private def filesOf(sample: BucketedSample, laidOut: LayoutResult): Seq[Seq[Int]] = {
    val random = new Random(3)
    val keys = sample.keys(laidOut.layout)
    keys.indices.groupBy(row =>
      laidOut.cuts.fileOf(keys(row), random.nextInt(CutPoints.NoiseRange))).values.toSeq
  }

  /** Whether the minima, maxima and NULLs of some rows let a query skip them, written naively. */
  private def skips(query: Query, points: Array[Array[Int]], rows: Seq[Int]): Boolean =
    query.boxes.forall { box =>
      points.indices.exists { c =>
        val values = rows.map(points(c)(_))
        val known = values.filter(_ > 0)
        val byValue = known.isEmpty || known.max < box.low(c) || known.min > box.high(c)
        byValue && !(box.nulls(c) && values.contains(0))
      }
    }

  private def skipped(workload: Workload, points: Array[Array[Int]], files: Seq[Seq[Int]]): Double =
    (for (q <- workload.queries; rows <- files if skips(q, points, rows))
      yield q.weight * rows.size).sum

  private def randomBox(random: Random, columns: Int, values: Int): Box = {
    val asked = Seq.fill(columns)(random.nextInt(3) > 0)
    val low = asked.map(if (_) 1 + random.nextInt(values) else 1)
    val high = asked.zip(low).map { case (is, from) =>
      if (is) from + random.nextInt(1 + values / 8) else Int.MaxValue
    }
    Box(low.toArray, high.toArray, asked.map(is => !is || random.nextInt(10) == 0).toArray)
  }

  private def randomWorkload(random: Random, columns: Int, values: Int): Workload =
    Workload(Seq.fill(1 + random.nextInt(12)) {
      val boxes = Seq.fill(1 + random.nextInt(2))(randomBox(random, columns, values))
      Query(1.0 + random.nextInt(5), boxes)
    })

  private def randomSample(random: Random, rows: Int, columns: Int, values: Int): BucketedSample =
    sample(Seq.fill(columns)(Array.fill(rows)(
      if (random.nextInt(8) == 0) -1 else random.nextInt(values))): _*)

  test("exactly as many files as wanted, and even ones") {
    for (columns <- 1 to 3; files <- Seq(1, 2, 7, 17, 64)) {
      val random = new Random(files)
      val rows = sample(Seq.fill(columns)(Array.fill(20000)(random.nextInt(5000))): _*)
      val found = filesOf(rows, layOut(rows, files, randomWorkload(random, columns, 5000)))
      assert(found.size === files)
      val mean = 20000.0 / files
      assert(found.forall(rows => rows.size > 0.8 * mean && rows.size < 1.2 * mean))
    }
  }

  test("a workload never skips fewer rows than without it, and mostly many more") {
    val gains = (1 to 60).map { seed =>
      val random = new Random(seed)
      val (columns, values) = (1 + random.nextInt(3), 20 + random.nextInt(2000))
      val rows = randomSample(random, 3000, columns, values)
      val workload = randomWorkload(random, columns, values)
      val files = 2 + random.nextInt(30)
      def of(asked: Workload) =
        skipped(workload, points(rows), filesOf(rows, layOut(rows, files, asked)))
      val (without, greedy) = (of(Workload.Empty), of(workload))
      assert(greedy >= without, s"seed $seed")
      val all = workload.queries.map(_.weight).sum * 3000
      // Rows that are still read.
      (all - greedy) / math.max(1.0, all - without)
    }
    assert(gains.sum / gains.size < 0.85, gains)
  }

  test("the first cut is the best of all single cuts") {
    var compared = 0
    // Few ranks, and many of which most don't occur.
    for (seed <- 1 to 80; values <- Seq(30, 9000)) {
      val random = new Random(seed)
      val columns = 1 + random.nextInt(3)
      val rows = randomSample(random, 120, columns, values)
      val workload = randomWorkload(random, columns, values)
      val files = 2 + random.nextInt(4)
      val ranks = points(rows)
      val search = new WorkloadSplitSearch(
        ranks,
        ranks.map(_.max + 1),
        workload,
        RowsPerFile(120.0 / files),
        (_: Array[Int], _: Int, _: Int, _: Int) => None)
      val cuts = for {
        c <- 0 until columns
        greatest <- ranks(c).distinct
        (low, high) = (0 until 120).partition(ranks(c)(_) <= greatest)
        if low.nonEmpty && high.nonEmpty
        lowFiles <- 1 until files
        if (low.size / (120.0 / files) / lowFiles - 1).abs <= 0.15
        if (high.size / (120.0 / files) / (files - lowFiles) - 1).abs <= 0.15
      } yield skipped(workload, ranks, Seq(low, high))
      val best = cuts.maxOption.filter(_ > 0)
      val found = search.find(Array.range(0, 120), 0, 120, files)
      assert(found.isDefined === best.isDefined, s"seed $seed")
      for (split <- found; most <- best) {
        val (low, high) = (0 until 120).partition(ranks(split.column)(_) <= split.maxRank)
        assert(skipped(workload, ranks, Seq(low, high)) === most, s"seed $seed")
        compared += 1
      }
    }
    assert(compared > 80)
  }

  test("looking ahead reads less than the better greedy tree, in most cases and on average") {
    val ratios = (1 to 10).map { seed =>
      val random = new Random(seed)
      val rows = sample(Seq.fill(3)(Array.fill(6000)(random.nextInt(1000))): _*)
      // Narrow queries on one of three columns; some for several values.
      val workload = Workload(Seq.fill(10) {
        val column = random.nextInt(3)
        Query(
          1.0,
          Seq.fill(Seq(1, 1, 4)(random.nextInt(3)))(randomBox(random, 3, 1000)).map { box =>
            val low = Array.fill(3)(1)
            val high = Array.fill(3)(Int.MaxValue)
            low(column) = box.low(column)
            high(column) = low(column) + random.nextInt(20)
            Box(low, high, Array.fill(3)(false))
          }
        )
      })
      val ranks = points(rows)
      val scales = ranks.map(_.max + 1)
      val sizes = RowsPerFile(6000.0 / 40)
      val equal = Array.fill(3)(1.0)
      val usual = KdSplitSearch.of(ranks, scales, equal)(sizes)
      val ahead = new LookaheadSearch(ranks, scales, equal, workload, sizes, usual)
      def read(search: SplitSearch) = {
        val files = new KdTreeBuilder(ranks, 40, search).build()._2.map(_.rows.toSeq)
        10 * 6000 - skipped(workload, ranks, files)
      }
      read(ahead) / ahead.greedy.map(read).min
    }
    assert(ratios.count(_ < 1) > 6, ratios)
    assert(ratios.sum / ratios.size < 0.95, ratios)
  }

  test("where no query gains, the usual rule cuts") {
    val random = new Random(1)
    val rows = sample(Array.fill(5000)(random.nextInt(500)), Array.fill(5000)(random.nextInt(500)))
    val nowhere =
      Workload(Seq(Query(1.0, Seq(Box(Array(900, 1), Array(950, 600), Array(true, true))))))
    val everywhere =
      Workload(Seq(Query(1.0, Seq(Box(Array(1, 1), Array(600, 600), Array(true, true))))))
    for (workload <- Seq(nowhere, everywhere))
      assert(filesOf(rows, layOut(rows, 20, workload)).toSet ===
        filesOf(rows, layOut(rows, 20, Workload.Empty)).toSet)
  }

  test("a narrow query on one column reads about its share of the files") {
    val random = new Random(2)
    def column = Array.fill(30000)(random.nextInt(3000))
    val rows = sample(column, column, column)
    val asked = Box(Array(1, 1201, 1), Array(3001, 1350, 3001), Array(true, true, true))
    val workload = Workload(Seq(Query(1.0, Seq(asked))))
    val files = filesOf(rows, layOut(rows, 60, workload))
    // A twentieth of the rows, 3 files of 60, and one for the ends.
    assert(files.count(f => !skips(workload.queries.head, points(rows), f)) <= 4)
  }

  test("a query for several values of one column reads about a file for each") {
    val random = new Random(4)
    def column = Array.fill(30000)(random.nextInt(3000))
    val rows = sample(column, column)
    def value(rank: Int) = Box(Array(1, rank), Array(3001, rank), Array(true, false))
    val query = Query(1.0, (1 to 8).map(n => value(330 * n)))
    val files = filesOf(rows, layOut(rows, 60, Workload(Seq(query))))
    // Thirty without that: no side of a cut between two values can be skipped.
    assert(files.count(!skips(query, points(rows), _)) <= 16)
  }
}
