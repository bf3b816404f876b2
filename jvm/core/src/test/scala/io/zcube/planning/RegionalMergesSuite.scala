package io.zcube.planning

import scala.annotation.tailrec
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class RegionalMergesSuite extends AnyFunSuite {
  import RegionalMergesSuite._
  import StreamSimulation.{HotTenth, TimeCorrelated, Uniform}

  private val streams = PlanOptions(targetFileBytes = 105)

  // Without merges in parts, they read 4.2, 4.1 and 1.35 times the files.
  for {
    (stream, rewritten, read) <-
      Seq((Uniform, 6.5, 1.75), (HotTenth, 6.5, 1.75), (TimeCorrelated, 3.3, 1.35))
    budget <- Seq(0.05, 0.1)
  } test(s"$stream: a budget of $budget of the table keeps it readable") {
    val outcome = new StreamSimulation(stream, streams, budget = Some(budget)).run(200)
    info(outcome.toString)
    assert(outcome.rewritten <= rewritten)
    assert(outcome.read <= read)
  }

  test("appends of a tenth of a file don't rewrite cubes again and again") {
    Seq(0.1 -> 8.0, 0.3 -> 11.0).foreach { case (budget, rewritten) =>
      val outcome = new StreamSimulation(Uniform, streams, 10, budget = Some(budget)).run(300)
      info(outcome.toString)
      // Without a budget they are rewritten 8.7 times; without merges in parts they read 17 times the files.
      assert(outcome.rewritten <= rewritten)
      assert(outcome.read <= 2.4)
    }
  }

  // In a larger table each file is narrower, and saves less.
  for (scale <- Seq(1, 20))
    test(s"the files of one region, from four cubes; ${200 * scale * scale} files") {
      val files = grid("base", 14 * scale) ++ Seq("a", "b", "c", "d").flatMap(grid(_, 2 * scale))
      val budget = 800L * scale * scale
      val options = PlanOptions(targetFileBytes = 100, maxBytes = Some(budget))
      val plan = new ZCubePlanner(options).plan(files)
      info(plan.groups.take(3).map(_.files.map(_.file.path)).toString)
      assert(PlannedGroup.bytesOf(plan.groups) >= 0.9 * budget)
      plan.groups.foreach { group =>
        val wide = group.files.map(_.file.path).filterNot(_.startsWith("base"))
        assert(wide.map(_.drop(1)).distinct.size === 1)
        assert(wide.map(_.take(1)).sorted === Seq("a", "b", "c", "d"))
      }
      // The same with a budget for all, most of which fresh files elsewhere take.
      val all = DataFile.bytesOf(files)
      val fresh = DataFile("fresh", all - 1)
      val both = new ZCubePlanner(options.copy(maxBytes = Some(all - 1 + budget)))
        .planPartitions(Seq(files, Seq(fresh)))
      assert(both.groups.map(_.files.map(_.file.path)) ===
        Seq("fresh") +: plan.groups.map(_.files.map(_.file.path)))
    }

  test("files with only NULLs in a column are merged with each other, by the other columns") {
    def nulls(cube: String, files: Int) = (0 until files).map { y =>
      val height = (1 << 20) / files
      val ranges = new KeyRanges(
        Array(KeyRanges.NoLower, y.toLong * height),
        Array(KeyRanges.NoUpper, (y + 1L) * height - 1))
      file(s"$cube-n-$y", cube, 100).copy(ranges = ranges)
    }
    val small = Seq("a", "b", "c", "d")
    val files = grid("base", 14) ++ nulls("base", 50) ++ small.flatMap(grid(_, 2)) ++
      small.flatMap(nulls(_, 2))
    val options = PlanOptions(targetFileBytes = 100, maxBytes = Some(2300))
    val groups = new ZCubePlanner(options).plan(files).groups.map(_.files.map(_.file))
    val (blank, valued) = groups.partition(_.exists(_.ranges.isEmpty(0)))
    assert(blank.forall(_.forall(_.ranges.isEmpty(0))))
    def wide(group: Seq[DataFile]) =
      group.map(_.path).filterNot(_.startsWith("base")).sorted
    assert(blank.map(wide).toSet === Set("-n-0", "-n-1").map(half => small.map(_ + half)))
    assert(valued.map(wide).map(_.map(_.take(1))).toSet === Set(small))
  }

  test("the budget holds for fresh files and parts of several partitions together") {
    val random = new Random(13)
    def one(path: String, cube: Option[String], side: Long) = {
      val low = Array.fill(2)((random.nextDouble() * (10000 - side)).toLong)
      file(path, "", 100, low, low.map(_ + side)).copy(cube = cube.map(CubeTag(_, matches = true)))
    }
    val partitions = (0 until 3).map { p =>
      (0 until 100).map(i => one(s"$p-$i", Some(s"$p-base"), 1000)) ++
        (0 until 60).map(i => one(s"$p-s-$i", Some(s"$p-${i % 12}"), 5000)) ++
        (0 until 4).map(i => one(s"$p-f-$i", None, 9000))
    }
    var parts = 0
    for (budget <- 400L to 6000L by 200L) {
      val plan = new ZCubePlanner(PlanOptions(targetFileBytes = 100, maxBytes = Some(budget)))
        .planPartitions(partitions)
      val files = plan.groups.flatMap(_.files)
      assert(PlannedFile.bytesOf(files) <= budget)
      assert((files ++ plan.kept).map(_.file.path).sorted === partitions.flatten.map(_.path).sorted)
      if (files.exists(_.reason == FileReason.Overlaps) && files.exists(
          _.reason == FileReason.Fresh))
        parts += 1
    }
    assert(parts > 10)
  }

  for (columns <- 1 to 3)
    test(s"files in a region are those that a look at each finds, $columns columns") {
      val random = new Random(5)
      def one(cube: Int, i: Int) = {
        val low = Array.fill(columns)(random.nextInt(1000).toLong)
        file(s"$cube-$i", s"cube-$cube", 100, low, low.map(_ + random.nextInt(200)))
      }
      val cubes = (0 until 4).map(c => ZCube(s"cube-$c", Seq.tabulate(250)(one(c, _))))
      val merges = new RegionalMerges(cubes, PlanOptions(targetFileBytes = 100))
      for ((box, i) <- merges.boxes.zipWithIndex; region <- box.regions(4))
        assert(merges.inside(region, i).toSeq === merges.boxes.indices.filter(other =>
          other == i || merges.boxes(other).within(region) >= RegionalMerges.Inside))
    }

  private def parts(options: PlanOptions, small: String*) = {
    val cubes = Seq("base" -> 14) ++ small.map(_ -> 2)
    new RegionalMerges(
      cubes.map { case (cube, side) => ZCube(cube, grid(cube, side)) },
      options.copy(targetFileBytes = 100)).within(10000)
  }

  test("two cubes alone aren't merged in turns, whatever fanOut is") {
    val options = PlanOptions(fanOut = 2)
    assert(parts(options, "a", "b").isEmpty)
    assert(parts(options, "a", "b", "c").nonEmpty)
  }

  test("a quarter of the largest cube isn't rewritten for one wide file, whatever mergeShare is") {
    Seq(1e-9, 0.05, 0.1).foreach { share =>
      assert(parts(PlanOptions(mergeShare = share), "a").isEmpty)
      assert(parts(PlanOptions(mergeShare = share), "a", "b", "c", "d").nonEmpty)
    }
  }

  test("without appends, runs come to an end, and queries read fewer files") {
    for {
      columns <- Seq(1, 2, 4)
      constant <- Seq(false, true)
      blind <- Seq(false, true)
      budget <- Seq(0.05, 0.2)
      fanOut <- Seq(2, 4)
    } {
      val table = new Table(columns, constant, blind, seed = 3)
      val before = table.read
      val clue =
        s"$columns columns, constant $constant, blind $blind, budget $budget, fanOut $fanOut"
      val runs = table.runUntilNothingIsLeft(budget, fanOut)
      info(s"$clue: $runs runs, ${table.written} of ${table.bytes} bytes, $before to ${table.read} files")
      assert(table.written <= 2 * table.bytes, clue)
      if (!constant && !blind && (columns < 4 || budget > 0.1))
        assert(table.read < 0.97 * before, clue)
    }
  }

  test("small cubes of a new period are merged in parts, however much is stable") {
    val stable = for (x <-
        0 until 100;
      y <- 0 until 20)
      yield file(
        s"s-$x-$y",
        "stable",
        100,
        Array(x * 10L, y * 50L),
        Array(x * 10L + 9, y * 50L + 49))
    val small = for (cube <- 0 until 12; x <- 0 until 2; y <- 0 until 2) yield {
      val (left, low) = (1000L + 5 * x, 500L * y)
      file(s"$cube-$x-$y", s"cube-$cube", 100, Array(left, low), Array(left + 4, low + 499))
    }
    val options =
      PlanOptions(targetFileBytes = 100, minCubeBytes = 100000, maxBytes = Some(1000))
    val plan = new ZCubePlanner(options).plan(stable ++ small)
    assert(plan.groups.nonEmpty)
    assert(plan.groups.flatMap(_.files).forall(_.reason == FileReason.Overlaps))
  }

  test("without statistics nothing is merged in parts") {
    val files = for (cube <- 0 until 20; i <- 0 until 5)
      yield file(s"$cube-$i", s"cube-$cube", 100).copy(ranges = KeyRanges.Unknown)
    val plan =
      new ZCubePlanner(PlanOptions(targetFileBytes = 100, maxBytes = Some(1000))).plan(files)
    assert(plan.groups.isEmpty)
    assert(plan.overBudget.nonEmpty)
  }
}

private object RegionalMergesSuite {

  private def file(
      path: String,
      cube: String,
      bytes: Long,
      lower: Array[Long] = Array.empty,
      upper: Array[Long] = Array.empty): DataFile = DataFile(
    path,
    bytes,
    Some(bytes),
    cube = Some(CubeTag(cube, matches = true)),
    ranges = new KeyRanges(lower, upper))

  /** The files of a cube in two columns, which divide each into so many parts. */
  private def grid(cube: String, side: Int): Seq[DataFile] = for {
    x <- 0 until side
    y <- 0 until side
  } yield {
    val width = (1 << 20) / side
    file(
      s"$cube-$x-$y",
      cube,
      100,
      Array(x * width.toLong, y * width.toLong),
      Array((x + 1) * width - 1L, (y + 1) * width - 1L))
  }

  type Row = Array[Long]

  /** A clustered cube and 25 small ones, of rows of one byte that are really sorted into files.
    *
    * @param constant whether the first column has one value only
    * @param blind whether the statistics show nothing of the last column
    */
  final private class Table(columns: Int, constant: Boolean, blind: Boolean, seed: Int) {
    private val random = new Random(seed)
    private var files: Vector[(DataFile, Array[Row])] = Vector.empty
    private var count = 0
    var written = 0L

    write(Array.fill(10000)(row()))
    for (_ <- 0 until 25) write(Array.fill(100 + random.nextInt(400))(row()))

    val bytes: Long = DataFile.bytesOf(files.map(_._1))

    private def row(): Row =
      Array.tabulate(columns)(i => if (constant && i == 0) 3L else random.nextInt(1 << 30).toLong)

    private def write(rows: Array[Row]): Unit = {
      count += 1
      val cube = s"cube-$count"
      val cells = HalvedCells.of(rows, math.max(1, rows.length / 100), columns)(length)(
        (cell, column) => cell.sortBy(_(column)))
      cells.zipWithIndex.foreach { case (members, i) =>
        val lower = Array.tabulate(columns)(c => if (isBlind(c)) 0L else members.map(_(c)).min)
        val upper = Array.tabulate(columns)(c => if (isBlind(c)) 9L else members.map(_(c)).max)
        files :+= file(s"$cube-$i", cube, members.length.toLong, lower, upper) -> members
      }
    }

    private def isBlind(column: Int) = blind && column == columns - 1

    private def length(cell: Array[Row], column: Int): Double = {
      val values = cell.map(_(column))
      (values.max - values.min).toDouble
    }

    /** Files that queries for one value of one column read, together. */
    def read: Int = {
      val rows = files.flatMap(_._2).toArray
      val asked = new Random(5)
      Seq.fill(400)((rows(asked.nextInt(rows.length)), asked.nextInt(columns))).map {
        case (row, column) =>
          files.map(_._1).count { f =>
            isBlind(column) ||
            f.ranges.lower(column) <= row(column) && row(column) <= f.ranges.upper(column)
          }
      }.sum
    }

    def runUntilNothingIsLeft(budget: Double, fanOut: Int): Int = {
      val options =
        PlanOptions(
          targetFileBytes = 105,
          fanOut = fanOut,
          maxBytes = Some((budget * bytes).toLong))
      @tailrec
      def run(number: Int): Int = {
        val plan = new ZCubePlanner(options).plan(files.map(_._1))
        require(plan.groups.map(_.bytes).sum <= budget * bytes, "over budget")
        if (plan.groups.isEmpty) number
        else {
          require(number < 200, "no end")
          plan.groups.foreach { group =>
            val paths = PlannedFile.pathsOf(group.files.iterator)
            val (rewritten, rest) = files.partition { case (f, _) => paths(f.path) }
            files = rest
            written += group.bytes
            write(rewritten.flatMap(_._2).toArray)
          }
          run(number + 1)
        }
      }
      run(0)
    }
  }
}
