package io.zcube.layout.kinds

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.{CutPoints, Workload}

class LayoutKindSuite extends AnyFunSuite {
  import TestColumn.Null

  private def filesOf(
      kind: LayoutKind,
      columns: Seq[TestColumn],
      files: Int,
      even: Boolean = false): (Seq[Long], Seq[Int]) = {
    val bits = kind.bits(columns.size, files, None)
    val sample = TestColumn.sample(columns, 1 << bits)
    val laidOut =
      kind.layOut(sample, files, bits, spread = true, Nil, Workload.Empty, even)
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
      val (_, files) = filesOf(LayoutKind.KdTree, columns, 5, even = even)
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

  test("a sample with only NULLs and an empty sample can be laid out") {
    for (rows <- Seq(0, 50)) {
      val column = TestColumn(Array.fill(rows)(Null))
      val (_, files) = filesOf(LayoutKind.KdTree, Seq(column, column), 3)
      assert(files.size === rows)
    }
  }
}
