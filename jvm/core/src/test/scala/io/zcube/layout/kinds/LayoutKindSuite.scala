package io.zcube.layout.kinds

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.curve.MortonCurve
import io.zcube.layout.kdtree.KdTreeLayout
import io.zcube.layout.{ColumnWeights, CutPoints, CutRules, LayoutResult, RankScale, Workload}

class LayoutKindSuite extends AnyFunSuite {
  import TestColumn.Null

  private def filesOf(
      kind: LayoutKind,
      columns: Seq[TestColumn],
      files: Int,
      weights: Seq[Double] = Nil,
      rules: CutRules = CutRules()): (Seq[Long], Seq[Int]) = {
    val bits = kind.bits(columns.size, files, None)
    val sample = TestColumn.sample(columns, 1 << bits)
    val laidOut =
      kind.layOut(sample, files, bits, rules, weights, Workload.Empty)
    val keys = sample.keys(laidOut.layout).toSeq
    val noise = new Random(3)
    (keys, keys.map(laidOut.cuts.fileOf(_, noise.nextInt(CutPoints.NoiseRange))))
  }

  test("the k-d tree of one column sorts it") {
    val random = new Random(1)
    val column = TestColumn(Array.fill(5000) {
      random.nextInt(4) match {
        case 0 => Null
        case 1 => 7L
        case _ => random.nextInt().toLong
      }
    })
    for (files <- Seq(1, 3, 17, 300))
      assert(filesOf(LayoutKind.KdTree, Seq(column), files) ===
        filesOf(LayoutKind.Linear, Seq(column), files))
    // Sorted by the column itself: no file begins before another ends, except for a value that
    // fills several.
    val (_, files) = filesOf(LayoutKind.KdTree, Seq(column), 3)
    val ordered = column.values.toSeq.zip(files).sorted.map(_._2)
    assert(ordered === ordered.sorted)
  }

  test("the few rows with values in several mostly-NULL columns are brought together") {
    val rows = 9000
    // Each row has a value in one of four columns at most, a fifth of the rows in any.
    val columns = (0 until 4).map { c =>
      TestColumn(Array.tabulate(rows)(row => if (row % 20 == c) row * 7919L % 10007 else Null))
    }
    val (_, files) = filesOf(LayoutKind.KdTree, columns, 3)
    val holding = (0 until rows).filter(row => row % 20 < 4).map(files).distinct
    assert(holding.size === 1)
    assert((0 to 2).forall(file => math.abs(files.count(_ == file) - rows / 3) < rows / 10))
  }

  test("rows without a value don't fill up files of rows with values, if files stay nearly even") {
    def mixed(share: Double, even: Boolean = false): Seq[Int] = {
      val random = new Random(5)
      val rows = 20000
      val columns = Seq.fill(5)(TestColumn(Array.fill(rows) {
        if (random.nextDouble() < share) random.nextInt().toLong else Null
      }))
      val (_, files) = filesOf(LayoutKind.KdTree, columns, 5, rules = CutRules(isTight = even))
      val isEmpty = (0 until rows).map(row => columns.forall(_.values(row) == Null))
      (0 until 5).foreach { file =>
        assert(math.abs(files.count(_ == file) - rows / 5) <= 0.13 * rows / 5, (share, file))
      }
      (0 until 5).filter(file =>
        (0 until rows).filter(files(_) == file).map(isEmpty).distinct.size > 1)
    }
    // 0.59 of the rows have no value: three files of five.
    assert(mixed(0.1) === Nil)
    // 0.51 of the rows: a file of two and a half would be too large, or too small.
    assert(mixed(0.125).size === 1)
    // Where the rows of a file are limited, files are even.
    assert(mixed(0.1, even = true).size === 1)
  }

  test("files of rows with values are at most 15 % larger than the mean") {
    // Four values fill 3.36 files. Cut between values only, one file has two of them.
    val counts = Seq(1020, 660, 660, 1020)
    val values = counts.zipWithIndex.flatMap { case (n, value) => Seq.fill(n)(value.toLong) }
    val column = TestColumn((values ++ Seq.fill(10000 - values.size)(Null)).toArray)
    val bits = LayoutKind.KdTree.bits(2, 10, None)
    val sample = TestColumn.sample(Seq(column, column), 1 << bits)
    // Instead of the tree, files in no order, so that any curve is better.
    val scales = sample.scales.map(scale => RankScale(scale.boundIndices, scale.ranks.map(_ => 0)))
    val unordered = new CurveLayout(MortonCurve(2, 1), scales)
    val worst =
      LayoutResult(unordered, CutPoints.of(sample.keys(unordered), 10, slack = 0))
    val best = SparseColumns.best(worst, sample, 10, bits, CutRules(), Nil)
    assert(best ne worst)
    val files = sample.keys(best.layout).zipWithIndex.map { case (key, row) =>
      best.cuts.fileOf(key, best.cuts.turn(row))
    }
    assert(files.groupBy(identity).values.forall(_.length <= 1150))
  }

  test("without spreading, sparse columns get the tree, whose files differ less in size") {
    val random = new Random(8)
    val columns = Seq.fill(2)(TestColumn(Array.fill(6000) {
      if (random.nextDouble() < 0.2) random.nextInt(3).toLong else Null
    }))
    val sample = TestColumn.sample(columns, 1 << LayoutKind.KdTree.bits(2, 5, None))
    val tree = KdTreeLayout.of(sample, 5, CutRules(splitsValues = false), Nil)
    val filesOfTree = sample.keys(tree.layout).map(tree.cuts.fileOf(_, 0)).toSeq
    assert(filesOf(
      LayoutKind.KdTree,
      columns,
      5,
      rules = CutRules(splitsValues = false))._2 === filesOfTree)
    assert(filesOf(LayoutKind.KdTree, columns, 5)._2 !== filesOfTree)
  }

  test("a mostly-NULL column without statistics doesn't decide between layouts") {
    val random = new Random(11)
    def column(share: Double) = TestColumn(Array.fill(20000) {
      if (random.nextDouble() < share) random.nextInt().toLong else Null
    })
    // On a curve with files of their own, on a tree, and beside a single column.
    for ((columns, share, files) <- Seq((5, 0.1, 5), (3, 0.1, 17), (1, 0.05, 50))) {
      val known = Seq.fill(columns)(column(share))
      val queries = new TestQueries(known, 5)
      def read(of: Seq[TestColumn], weights: Seq[Double]): Double =
        queries.read(filesOf(LayoutKind.KdTree, of, files, weights)._2.toArray).values.product
      val weights = Seq.fill(columns)(1.0) :+ ColumnWeights.NoStatistics
      for (blind <- Seq(0.2, 0.4, 1.0))
        assert(read(known :+ column(blind), weights) < 1.05 * read(known, Nil), (columns, blind))
    }
  }

  test("a column without statistics is cut only where no other can be") {
    val rows = 4000
    val flag = TestColumn(Array.tabulate(rows)(row => (row % 2).toLong))
    val weights = Seq(1.0, ColumnWeights.NoStatistics)
    // Files of 0.84 and 1.16 are worse than even ones, but a query skips one of them.
    val uneven = TestColumn(Array.tabulate(rows)(row => if (row / 2 % 100 < 42) 0L else 1L))
    val (_, files) = filesOf(LayoutKind.KdTree, Seq(uneven, flag), 2, weights)
    assert(uneven.values.toSeq.zip(files).distinct.size === 2)
    // No value divides a constant.
    val constant = TestColumn(Array.fill(rows)(7L))
    val (_, byFlag) = filesOf(LayoutKind.KdTree, Seq(constant, flag), 2, weights)
    assert(flag.values.toSeq.zip(byFlag).distinct.size === 2)
  }

  test("where rows are limited, no cut makes a file of the tree much larger than the mean") {
    val rows = 4000
    val uneven = TestColumn(Array.tabulate(rows)(row => if (row % 100 < 43) 0L else 1L))
    for (even <- Seq(false, true)) {
      val (_, files) =
        filesOf(LayoutKind.KdTree, Seq(uneven, uneven), 2, rules = CutRules(isTight = even))
      assert(files.groupBy(identity).values.forall(_.size <= 1.09 * rows / 2) === even)
    }
  }

  test("where rows are limited, a key is split rather than a file made larger") {
    // The second value ends 0.06 to 0.09 files after the even position, whichever side is cut first.
    val counts = Seq(940, 1120, 940)
    val column =
      TestColumn(counts.zipWithIndex.flatMap { case (n, v) => Seq.fill(n)(v.toLong) }.toArray)
    for (kind <- LayoutKind.all; even <- Seq(false, true)) {
      val columns = if (kind == LayoutKind.KdTree) Seq(column, column) else Seq(column)
      val (_, files) = filesOf(kind, columns, 3, rules = CutRules(isTight = even))
      val largest = files.groupBy(identity).values.map(_.size).max
      assert((largest <= 1080) === even, s"${kind.name}, $largest")
      // Without spreading, each value is in one file.
      val (_, whole) =
        filesOf(kind, columns, 3, rules = CutRules(splitsValues = false, isTight = even))
      assert(whole.groupBy(identity).values.map(_.size).max === 1120, kind.name)
    }
  }

  test("a sample with only NULLs and an empty sample can be laid out") {
    for (rows <- Seq(0, 50)) {
      val column = TestColumn(Array.fill(rows)(Null))
      val (_, files) = filesOf(LayoutKind.KdTree, Seq(column, column), 3)
      assert(files.forall(file => 0 <= file && file < 3))
      assert(files.distinct.size === math.min(rows, 3))
    }
  }
}
