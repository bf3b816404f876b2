package io.zcube.planning

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.layout.kinds.{LayoutKind, TestColumn, TestQueries}
import io.zcube.layout.{CutPoints, CutRules, FileCount, Workload}

/** Simulates the first clustering of tables far larger than a cube: 10,000 files of 1 GB. Reading is
  * compared with one clustering of all rows by a single job into a single cube.
  */
class LargeTableSuite extends AnyFunSuite {
  import LargeTableSuite._

  /** Files read, as a multiple of what one clustering of all would read, by kind of query. */
  private def reading(table: Simulated): Map[String, Double] = {
    val queries = new TestQueries(table.columns, 17)
    val now = queries.read(table.fileOf)
    val full = table.layOut(table.rows, table.rows.length / RowsPerFile)
    val best = queries.read(full)
    now.map { case (kind, share) =>
      kind -> share * (table.fileOf.max + 1) / best(kind) / (full.max + 1)
    }
  }

  for (columns <- 2 +: Night.only(4)) {
    test(s"no order, $columns columns: one job reads like one clustering, in stable cubes") {
      val table = new Simulated(random(columns), inNoOrder)
      assert(table.optimize(PlanOptions()) === Seq(table.bytes))
      val read = reading(table)
      info(s"$read")
      assert(read.values.max <= 1.1)
      assert(table.cubeBytes.forall(b => b >= 100 * Gigabyte && b <= 160 * Gigabyte))
      assert(table.optimize(PlanOptions()).isEmpty)
    }

    for ((terabytes, job, most) <- (10, 1, 1.1) +: Night.only((50, 10, 1.05)))
      test(
        s"no order, $columns columns: $terabytes TB in jobs of $job TB are regrouped by region") {
        val table = new Simulated(random(columns, Files / 10 * terabytes), inNoOrder)
        val options = PlanOptions(maxJobBytes = job.toLong << 40)
        val jobs = table.optimize(options)
        info(s"${jobs.size} jobs: ${reading(table)}")
        assert(jobs.size === terabytes / job && jobs.max <= options.maxJobBytes)
        val again = table.optimize(options)
        val read = reading(table)
        info(s"${again.size} jobs of at most ${again.max / Gigabyte} GB: $read")
        assert(again.sum === table.bytes && again.max <= 1.1 * options.maxJobBytes)
        assert(read.values.max <= most)
        assert(again.size <= 1.25 * terabytes / job)
        assert(table.cubeBytes.forall(b => b >= 100 * Gigabyte && b <= 160 * Gigabyte))
        assert(table.optimize(options).isEmpty)
      }

    test(s"in order of a column, $columns columns: jobs of 1 TB read like one clustering") {
      val table = new Simulated(random(columns), inOrder)
      val options = PlanOptions(maxJobBytes = 1L << 40)
      val jobs = table.optimize(options)
      // Each job has a stretch of the order, which isn't the best region for the other columns.
      val read = reading(table)
      info(s"${jobs.size} jobs: $read")
      assert(jobs.max <= (1L << 40))
      assert(read.values.max <= 1.1)
      assert(table.optimize(options).isEmpty)
    }
  }

  // Otherwise every run would rewrite such cubes, although the next layout is the same.
  for (columns <- 1 to 3; ratio <- 8 +: Night.only(5, 20); known <- Seq(true, false))
    test(s"$columns columns, rows $ratio times as long in a region, row counts: $known") {
      val values = random(columns)
      val isLong = values.head.values.map(_ > 0.75 * Int.MaxValue)
      val widths = isLong.map(if (_) 5 * ratio * Megabyte else 5 * Megabyte)
      val table = new Simulated(values, in => inNoOrder(in).map(_ / 20), Some(widths), known)
      val first = table.optimize(PlanOptions())
      assert(first.size === 1 && table.cubeBytes.size > 1)
      val cubes = table.cubeBytes.size
      val again = Seq.fill(3)(table.optimize(PlanOptions()).sum / Gigabyte)
      info(s"$cubes cubes of ${first.sum / Gigabyte} GB; then GB again: $again")
      // Nor is anything ever after.
      assert(again.last == 0)
    }

  for (files <- 900 +: Night.only(600, 1300); policy <- MergePolicy.all)
    test(s"$files GB, rows 20 times as long in two regions, ${policy.name}: nothing goes on") {
      val values = random(1, files * RowsPerFile / 100)
      val isLong = values.head.values.map(v => v < 0.2 * Int.MaxValue || v > 0.8 * Int.MaxValue)
      val widths = isLong.map(if (_) 50 * Megabyte else 50 * Megabyte / 20)
      val table = new Simulated(values, in => inNoOrder(in), Some(widths))
      val options = PlanOptions(policy = policy)
      val again = Seq.fill(6)(table.optimize(options).sum / Gigabyte)
      info(s"${table.bytes / Gigabyte} GB, rewritten: $again")
      assert(again.last == 0)
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
        // What overlaps is regrouped, if it can be divided.
        val regrouped = Iterator.continually(table.optimize(options)).takeWhile(_.nonEmpty).toSeq
        // What it leaves of cubes is merged, in jobs that are regrouped in turn.
        info(s"$files GB, then ${regrouped.map(_.map(_ / Gigabyte))}")
        assert(regrouped.flatten.sum <= table.bytes, files)
        assert(!order || regrouped.isEmpty, files)
      }
    }

  private def random(columns: Int, files: Int = Files): Seq[TestColumn] = {
    val random = new Random(23)
    val rows = files * RowsPerFile
    (1 to columns).map(_ => TestColumn(Array.fill(rows)(random.nextInt(Int.MaxValue).toLong)))
  }

  private def inNoOrder(columns: Seq[TestColumn]): Array[Int] =
    columns.head.values.indices.map(_ % (columns.head.values.length / RowsPerFile)).toArray

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
  private val Gigabyte = 1L << 30
  private val Megabyte = 1L << 20

  /** A table of rows in files, and its OPTIMIZE.
    *
    * @param ofRows  bytes of each row; otherwise a file of 1 GB has ten rows
    * @param hasRows whether the log has row counts
    */
  private class Simulated(
      val columns: Seq[TestColumn],
      order: Seq[TestColumn] => Array[Int],
      ofRows: Option[Array[Long]] = None,
      hasRows: Boolean = true) {
    val rows: Array[Int] = columns.head.values.indices.toArray
    private val widths = ofRows.getOrElse(Array.fill(rows.length)(Gigabyte / RowsPerFile))

    /** Of each row. */
    var fileOf: Array[Int] = order(columns)
    private var cubeOf = Map.empty[Int, CubeTag]
    private var cubes = 0
    private var jobs = 0

    val bytes: Long = widths.sum

    /** What is added up over the rows of each file: loops, because a collection would make objects of
      * all numbers.
      */
    private def byFile(of: Array[Int], files: Array[Int])(amount: Int => Long): Array[Long] = {
      val sums = new Array[Long](files.max + 1)
      of.indices.foreach(i => sums(files(i)) += amount(of(i)))
      sums
    }

    def cubeBytes: Seq[Long] = byFile(rows, fileOf)(widths(_)).zipWithIndex.toSeq
      .groupMapReduce { case (_, file) => cubeOf(file).id }(_._1)(_ + _).values.toSeq

    private def described: Seq[DataFile] = {
      val sizes = byFile(rows, fileOf)(widths(_))
      val counts = byFile(rows, fileOf)(_ => 1)
      val (lows, highs) = columns.map { column =>
        val low = Array.fill(sizes.length)(Long.MaxValue)
        val high = Array.fill(sizes.length)(Long.MinValue)
        rows.indices.foreach { row =>
          val (file, value) = (fileOf(row), column.values(row))
          if (value < low(file)) low(file) = value
          if (value > high(file)) high(file) = value
        }
        (low, high)
      }.unzip
      sizes.indices.map { file =>
        DataFile(
          f"$file%07d",
          sizes(file),
          rows = Option.when(hasRows)(counts(file)),
          cube = cubeOf.get(file),
          ranges = new KeyRanges(lows.map(_(file)).toArray, highs.map(_(file)).toArray)
        )
      }
    }

    /** The bytes of its jobs. */
    def optimize(options: PlanOptions): Seq[Long] = {
      val plan = new ZCubePlanner(options).plan(described)
      var next = fileOf.max + 1
      plan.groups.foreach { group =>
        val isTaken = new Array[Boolean](next)
        group.files.foreach(file => isTaken(file.file.path.toInt) = true)
        val of = rows.filter(row => isTaken(fileOf(row)))
        val laidOut =
          layOut(
            of,
            FileCount.of(group.bytes, options.targetFileBytes, of.length.toLong, 0),
            group.extents)
        of.indices.foreach(i => fileOf(of(i)) = next + laidOut(i))
        val written = byFile(of, laidOut)(widths(_)).toSeq.zipWithIndex.collect {
          case (bytes, file) if bytes > 0 => (next + file, bytes)
        }
        jobs += 1
        val job = Option.when(group.overlapping)(s"job-$jobs")
        group.sizes.cut(written)(_._2).foreach { cube =>
          cubes += 1
          val tag = CubeTag(s"cube-$cubes", true, true, job)
          cube.foreach { case (file, _) => cubeOf += file -> tag }
        }
        next += laidOut.max + 1
      }
      renumber()
      plan.groups.map(_.bytes)
    }

    private def renumber(): Unit = {
      // Of files with rows, in their order.
      val counts = byFile(rows, fileOf)(_ => 1)
      val numbers = counts.scanLeft(0)((number, count) => if (count > 0) number + 1 else number)
      cubeOf = cubeOf.collect {
        case (file, cube) if file < counts.length && counts(file) > 0 => numbers(file) -> cube
      }
      fileOf = fileOf.map(numbers(_))
    }

    /** The number of each row's file. */
    def layOut(of: Array[Int], files: Int, weights: Seq[Double] = Nil): Array[Int] = {
      val chosen = columns.map(column => TestColumn(of.map(column.values(_))))
      val bits = LayoutKind.KdTree.bits(columns.size, files, None)
      val sample = TestColumn.sample(chosen, 1 << bits)
      val made =
        LayoutKind.KdTree.layOut(sample, files, bits, CutRules(), weights, Workload.Empty)
      val random = new Random(9)
      sample.keys(made.layout).map(made.cuts.fileOf(_, random.nextInt(CutPoints.NoiseRange)))
    }
  }
}
