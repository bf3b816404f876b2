package io.zcube.planning

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.kinds.{LayoutKind, TestColumn, TestQueries}
import io.zcube.layout.{CutPoints, FileCount, Workload}

/** Simulates the first clustering of tables far larger than a cube: 10,000 files of 1 GB. Reading is
  * compared with one clustering of all rows by a single job into a single cube.
  */
class LargeTableSuite extends AnyFunSuite {
  import LargeTableSuite._

  /** Files read, as a multiple of what one clustering of all would read, by kind of query. */
  private def reading(table: Simulated): Map[String, Double] = {
    val queries = new TestQueries(table.columns, 17)
    val now = queries.read(table.fileOf)
    val full = table.layOut(table.rows, Files)
    val best = queries.read(full)
    now.map { case (kind, share) =>
      kind -> share * (table.fileOf.max + 1) / best(kind) / (full.max + 1)
    }
  }

  for (columns <- Seq(2, 4)) {
    test(s"no order, $columns columns: one job reads like one clustering, in stable cubes") {
      val table = new Simulated(random(columns), inNoOrder)
      assert(table.optimize(PlanOptions()) === Seq(table.bytes))
      info(s"${reading(table)}")
      assert(reading(table).values.max <= 1.1)
      assert(table.cubeBytes.forall(b => b >= 100 * Gigabyte && b <= 160 * Gigabyte))
      assert(table.optimize(PlanOptions()).isEmpty)
    }

    test(s"no order, $columns columns, jobs of at most 1 TB: they overlap, and stay as they are") {
      val table = new Simulated(random(columns), inNoOrder)
      val options = PlanOptions(maxJobBytes = 1L << 40)
      val jobs = table.optimize(options)
      info(s"${jobs.size} jobs: ${reading(table)}")
      assert(jobs.size === 10 && jobs.max <= (1L << 40))
      assert(table.optimize(options).isEmpty)
    }

    test(s"in order of a column, $columns columns, jobs of at most 1 TB") {
      val table = new Simulated(random(columns), inOrder)
      val options = PlanOptions(maxJobBytes = 1L << 40)
      val jobs = table.optimize(options)
      info(s"${jobs.size} jobs: ${reading(table)}")
      assert(jobs.max <= (1L << 40))
      assert(table.optimize(options).isEmpty)
      // Each job has a stretch of the order, which isn't the best region for the other columns.
      assert(reading(table).values.max <= 2.0)
    }
  }

  // Otherwise every run would rewrite such cubes, although the next layout is the same.
  for (columns <- 1 to 3; ratio <- Seq(5, 8, 20); known <- Seq(true, false))
    test(s"$columns columns, rows $ratio times as long in a region, row counts: $known") {
      val values = random(columns)
      val isLong = values.head.values.map(_ > 0.75 * Int.MaxValue)
      val widths = isLong.map(if (_) 5 * ratio * Megabyte else 5 * Megabyte)
      val table = new Simulated(values, in => inNoOrder(in).map(_ / 20), widths, known)
      val first = table.optimize(PlanOptions())
      assert(first.size === 1 && table.cubeBytes.size > 1)
      val cubes = table.cubeBytes.size
      val again = Seq.fill(8)(table.optimize(PlanOptions()).sum / Gigabyte)
      info(s"$cubes cubes of ${first.sum / Gigabyte} GB; then GB again: $again")
      assert(again(2) == 0)
    }

  for (order <- Seq(true, false); columns <- Seq(1, 2, 4); policy <- MergePolicy.all)
    test(s"jobs of a cube, $columns columns, in order: $order, ${policy.name}: nothing goes on") {
      val values = random(columns)
      for (files <- Seq(155, 160, 190, 215, 3000)) {
        val rows = files * RowsPerFile
        val some = values.map(column => TestColumn(column.values.take(rows)))
        val table = new Simulated(some, if (order) inOrder else inNoOrder(_).map(_ % files))
        val options = PlanOptions(policy = policy, maxJobBytes = 0)
        val jobs = table.optimize(options)
        assert(jobs.forall(_ >= 100 * Gigabyte), files)
        assert(table.cubeBytes.forall(_ >= 100 * Gigabyte), files)
        assert(table.optimize(options).isEmpty, files)
      }
    }

  private def random(columns: Int): Seq[TestColumn] = {
    val random = new Random(23)
    (1 to columns).map(_ => TestColumn(Array.fill(Rows)(random.nextInt(Int.MaxValue).toLong)))
  }

  private def inNoOrder(columns: Seq[TestColumn]): Array[Int] =
    columns.head.values.indices.map(_ % Files).toArray

  /** Of the last column; rows come late by a file on average. */
  private def inOrder(columns: Seq[TestColumn]): Array[Int] = {
    val random = new Random(29)
    val rows = columns.last.values.length
    val arrival = columns.last.values.map { value =>
      value.toDouble - Int.MaxValue / (rows / RowsPerFile) * math.log(1 - random.nextDouble())
    }
    val files = new Array[Int](rows)
    arrival.indices.sortBy(arrival(_)).zipWithIndex.foreach { case (row, place) =>
      files(row) = place / RowsPerFile
    }
    files
  }
}

private object LargeTableSuite {
  private val Files = 10000
  private val RowsPerFile = 10
  private val Rows = Files * RowsPerFile
  private val Gigabyte = 1L << 30
  private val Megabyte = 1L << 20

  /** A table of rows in files, and its OPTIMIZE.
    *
    * @param widths  bytes of each row; a file of 1 GB has ten rows unless given
    * @param hasRows whether the log has row counts
    */
  private class Simulated(
      val columns: Seq[TestColumn],
      order: Seq[TestColumn] => Array[Int],
      widths: Array[Long] = Array.fill(Rows)(Gigabyte / RowsPerFile),
      hasRows: Boolean = true) {
    val rows: Array[Int] = columns.head.values.indices.toArray

    /** Of each row. */
    var fileOf: Array[Int] = order(columns)
    private var cubeOf = Map.empty[Int, String]
    private var cubes = 0

    private def bytesOf(rows: Iterable[Int]): Long = rows.iterator.map(widths(_)).sum

    val bytes: Long = widths.sum

    def cubeBytes: Seq[Long] =
      rows.groupBy(row => cubeOf(fileOf(row))).values.map(of => bytesOf(of)).toSeq

    private def described: Seq[DataFile] = rows.groupBy(fileOf(_)).toSeq.map { case (file, of) =>
      val ranges = new KeyRanges(
        columns.map(column => of.map(column.values(_)).min).toArray,
        columns.map(column => of.map(column.values(_)).max).toArray)
      DataFile(
        f"$file%07d",
        bytesOf(of),
        rows = Option.when(hasRows)(of.length.toLong),
        cube = cubeOf.get(file).map(CubeTag(_, matches = true)),
        ranges = ranges)
    }

    /** The bytes of its jobs. */
    def optimize(options: PlanOptions): Seq[Long] = {
      val plan = new ZCubePlanner(options).plan(described)
      var next = fileOf.max + 1
      plan.groups.foreach { group =>
        val files = group.files.map(_.file.path.toInt).toSet
        val of = rows.filter(row => files(fileOf(row)))
        val laidOut =
          layOut(of, FileCount.of(group.bytes, options.targetFileBytes, of.length.toLong, 0))
        of.indices.foreach(i => fileOf(of(i)) = next + laidOut(i))
        val written = of.indices.groupBy(laidOut(_)).toSeq.sortBy(_._1).map { case (file, rows) =>
          (next + file, bytesOf(rows.map(of(_))))
        }
        group.sizes.cut(written)(_._2).foreach { cube =>
          cubes += 1
          cube.foreach { case (file, _) => cubeOf += file -> s"cube-$cubes" }
        }
        next += laidOut.max + 1
      }
      renumber()
      plan.groups.map(_.bytes)
    }

    private def renumber(): Unit = {
      val numbers = fileOf.distinct.sorted.zipWithIndex.toMap
      cubeOf =
        cubeOf.collect { case (file, cube) if numbers.contains(file) => numbers(file) -> cube }
      fileOf = fileOf.map(numbers)
    }

    /** The number of each row's file. */
    def layOut(of: Array[Int], files: Int): Array[Int] = {
      val chosen = columns.map(column => TestColumn(of.map(column.values(_))))
      val bits = LayoutKind.KdTree.bits(columns.size, files, None)
      val sample = TestColumn.sample(chosen, 1 << bits)
      val made =
        LayoutKind.KdTree.layOut(sample, files, bits, spread = true, Nil, Workload.Empty)
      val random = new Random(9)
      sample.keys(made.layout).map(made.cuts.fileOf(_, random.nextInt(CutPoints.NoiseRange)))
    }
  }
}
