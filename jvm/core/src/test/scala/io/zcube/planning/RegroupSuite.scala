package io.zcube.planning

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Cubes that overlap because several jobs made them. */
class RegroupSuite extends AnyFunSuite {

  private val options = PlanOptions(
    targetFileBytes = 100,
    minCubeBytes = 400,
    targetCubeBytes = 500,
    maxJobBytes = 1600)

  private val side = 8

  /** A grid of files by two columns, over 0 to 79 in each. */
  private def grid(id: String, overlapping: Boolean = true): Seq[DataFile] =
    for (x <- 0 until side; y <- 0 until side)
      yield file(s"$id-$x-$y", (10L * x, 10L * x + 9), (10L * y, 10L * y + 9))
        .copy(cube = Some(CubeTag(s"$id-${y / 2}", true, true, Option.when(overlapping)(id))))

  private def file(name: String, x: (Long, Long), y: (Long, Long)) =
    DataFile(name, 100, ranges = new KeyRanges(Array(x._1, y._1), Array(x._2, y._2)))

  private def fresh(count: Int) = (1 to count).map(i => file(s"f$i", (0, 79), (0, 79)))

  private val four = Seq("a", "b", "c", "d").flatMap(grid(_))

  private def plan(files: Seq[DataFile], options: PlanOptions = options): ClusteringPlan =
    new ZCubePlanner(options).plan(new Random(7).shuffle(files))

  private def reasons(plan: ClusteringPlan): Map[FileReason, Int] =
    (plan.groups.flatMap(_.files) ++ plan.kept).groupMapReduce(_.reason)(_ => 1)(_ + _)

  test("they are rewritten by regions that don't overlap, none larger than a job") {
    val found = plan(four)
    assert(reasons(found) === Map(FileReason.Overlaps -> four.size))
    assert(found.groups.map(_.bytes) === Seq.fill(16)(1600))
    val boxes = found.groups.map(group => KeyRanges.union(group.files.map(_.file.ranges)))
    for (i <- boxes.indices; j <- 0 until i) {
      val (one, other) = (boxes(i), boxes(j))
      assert((0 to 1).exists(c => one.upper(c) < other.lower(c) || other.upper(c) < one.lower(c)))
    }
    assert(found.groups.forall(group => !group.overlapping && group.dueBytes == 0))
    // The parts of the four grids that lie over each other.
    found.groups.foreach { group =>
      val places = group.files.groupBy(_.file.path.drop(1)).values
      assert(places.forall(_.size == 4))
    }
  }

  test("what isn't marked stays, and so does what one job made") {
    def unmarked = Seq("a", "b", "c", "d").flatMap(grid(_, overlapping = false))
    assert(reasons(plan(unmarked)) === Map(FileReason.Stable -> four.size))
    assert(reasons(plan(grid("a"))) === Map(FileReason.KeptOverlapping -> side * side))
    assert(reasons(plan(four, options.copy(regrouping = Regrouping.Later))) ===
      Map(FileReason.KeptOverlapping -> four.size))
    val others = four.map(f => f.copy(cube = f.cube.map(_.copy(matches = false))))
    assert(reasons(plan(others)) === Map(FileReason.KeptOtherLayout -> four.size))
    // A part of a cube isn't rewritten into one that must be merged.
    val (part, outside) = four.partition(_.path.drop(1) == "-0-0")
    val rests = outside.groupBy(_.cube.get.id)
      .map { case (id, rest) => id -> CubeRest(rest.size.toLong, rest.map(_.bytes).sum, None) }
    def ofPart(minCubeBytes: Long) =
      new ZCubePlanner(options.copy(minCubeBytes = minCubeBytes)).planPartitions(Seq(part), rests)
    assert(reasons(ofPart(500)) === Map(FileReason.KeptOverlapping -> 4))
    assert(ofPart(400).groups.map(_.bytes) === Seq(400))
  }

  test("what can't be divided stays, as a large cube does") {
    val wide = four.map(f => f.copy(ranges = new KeyRanges(Array(0L, 0L), Array(79L, 79L))))
    val unknown = four.map(_.copy(ranges = KeyRanges.Unknown))
    for (files <- Seq(wide, unknown); policy <- MergePolicy.all) {
      val found = plan(files, options.copy(policy = policy))
      assert(reasons(found) === Map(FileReason.KeptOverlapping -> files.size))
      assert(!found.hasRegions)
    }
    // What is left of cubes is small, and is merged like others if nothing is regrouped any more.
    val some = four.filterNot(f => f.path.startsWith("a-") && !f.path.matches("a-[012]-0"))
    val large = options.copy(policy = MergeAll, maxJobBytes = 100000)
    assert(reasons(plan(some, large)) === Map(FileReason.Overlaps -> some.size))
    val left = four.filter(_.path.drop(1) == "-0-0").drop(1)
    val merged = options.copy(policy = MergeAll)
    assert(reasons(plan(left, merged)) === Map(FileReason.SmallCube -> 3))
    assert(reasons(plan(left, merged.copy(regrouping = Regrouping.Never))) ===
      Map(FileReason.KeptOverlapping -> 3))
    // What one job can hold needn't be divided.
    assert(plan(wide, options.copy(maxJobBytes = 30000)).groups.map(_.bytes) === Seq(25600))
  }

  test("a region that can't be two cubes may be larger than a job") {
    val eight = Seq("a", "b").flatMap { id =>
      for (x <- 0 to 1; y <- 0 to 1)
        yield file(s"$id-$x-$y", (40L * x, 40L * x + 39), (40L * y, 40L * y + 39))
          .copy(cube = Some(CubeTag(id, true, true, Some(id))))
    }
    // Two cubes need 840 bytes.
    assert(plan(eight, options.copy(maxJobBytes = 1)).groups.map(_.bytes) === Seq(800))
    assert(plan(eight, options.copy(maxBytes = Some(799))).groups.isEmpty)
    // Regions of two cubes or more have a job's bytes.
    val ten = eight ++ eight.take(2).map(f => f.copy(path = s"more-${f.path}"))
    assert(plan(ten, options.copy(maxJobBytes = 1)).groups.map(_.bytes).forall(_ < 840))
  }

  test("jobs that overlap are marked, and only when all is clustered are they regrouped") {
    val found = plan(four ++ fresh(40))
    assert(found.groups.map(group => (group.bytes, group.overlapping)).distinct ===
      Seq((1400, true), (1300, true)))
    assert(reasons(found) === Map(FileReason.Fresh -> 40, FileReason.KeptOverlapping -> four.size))
    // Files in order are divided by region.
    val ordered = (0 until 40).map(i => file(s"o$i", (10L * i, 10L * i + 9), (0, 79)))
    assert(plan(ordered).groups.size === 3 && plan(ordered).groups.forall(!_.overlapping))
    val both = plan(four ++ fresh(3))
    assert(reasons(both) === Map(FileReason.Fresh -> 3, FileReason.Overlaps -> four.size))
    assert(both.groups.head.files.size === 3)
    // A second pass in the same statement takes nothing else.
    val second = plan(four ++ fresh(3), options.copy(policy = MergeNothing))
    assert(reasons(second) === Map(FileReason.Waits -> 3, FileReason.Overlaps -> four.size))
    // The rest of a divided table overlaps it, though it is one job.
    val rest = plan(four ++ fresh(5))
    assert(rest.groups.map(group => (group.bytes, group.overlapping)) === Seq((500, true)))
    // What lies beside it doesn't overlap it.
    val beside = fresh(5).map(_.copy(ranges = new KeyRanges(Array(80L, 0L), Array(99L, 79L))))
    assert(plan(four ++ beside).groups.filter(_.dueBytes > 0).map(_.overlapping) === Seq(false))
    // Of a merge that doesn't fit, fresh files alone are no stable cube.
    val small = fresh(3).map(f => f.copy(path = "s" + f.path, cube = Some(CubeTag("s", true))))
    val merged = options.copy(policy = MergeAll)
    assert(plan(four ++ fresh(3) ++ small, merged).groups.map(g => (g.bytes, g.overlapping)) ===
      Seq((600, true)))
    val over = new ZCubePlanner(merged.copy(maxBytes = Some(850)))
      .planPartitions(Seq(four ++ fresh(3) ++ small, Seq(DataFile("elsewhere", 500))))
    assert(over.groups.map(g => (g.bytes, g.overlapping)) === Seq((500, false), (300, false)))
    // Parts of what overlaps do so too, also where they don't overlap each other.
    val slices = (0 to 7).map(i => file(s"o$i", (10L * i, 10L * i + 9), (0, 79)))
    val parts = new ZCubePlanner(options.copy(maxBytes = Some(1600)))
      .planPartitions(Seq(four ++ slices, Seq(DataFile("night", 1100)))).groups
    assert(parts.map(g => (g.bytes, g.overlapping)) === Seq((1100, false), (400, true)))
    // What isn't a stable cube is merged anyway.
    val tight = plan(fresh(40), options.copy(maxBytes = Some(300)))
    assert(tight.groups.map(group => (group.bytes, group.overlapping)) === Seq((300, false)))
  }

  test("files with only NULLs don't keep others from being regrouped, nor are they left") {
    val large = options.copy(minCubeBytes = 10000, targetCubeBytes = 15000, maxJobBytes = 40000)
    val perJob = 400
    for (share <- Seq(0.0, 0.1, 0.2, 0.3, 0.9, 1.0)) {
      val nulls = (perJob * share).toInt
      val files = for (job <- 1 to 5; i <- 0 until perJob) yield {
        val ranges =
          if (i < nulls) new KeyRanges(Array(KeyRanges.NoLower), Array(KeyRanges.NoUpper))
          else {
            val width = 100000L / (perJob - nulls)
            new KeyRanges(Array((i - nulls) * width), Array((i - nulls + 1) * width - 1))
          }
        val cube = CubeTag(s"$job-${i / 130}", true, true, Some(s"job-$job"))
        DataFile(s"$job-$i", 100, Some(100), cube = Some(cube), ranges = ranges)
      }
      val found = plan(files, large)
      assert(reasons(found) === Map(FileReason.Overlaps -> files.size), share)
      assert(found.groups.map(_.bytes).sum === 100L * files.size)
      assert(found.groups.forall(_.bytes <= 44000), share)
      // Values of two regions don't overlap.
      val boxes = found.groups.map(group => KeyRanges.union(group.files.map(_.file.ranges)))
        .filterNot(_.isNull).sortBy(_.lower(0))
      boxes.zip(boxes.drop(1)).foreach { case (one, next) =>
        assert(one.upper(0) < next.lower(0))
      }
      val cubes = found.groups.flatMap(group =>
        group.files.map(_.file.path -> CubeTag(group.files.head.file.path, true))).toMap
      assert(plan(files.map(f => f.copy(cube = cubes.get(f.path))), large).groups.isEmpty)
    }
  }

  test("within a budget, region by region, each file once") {
    // However large a job may be.
    for (budget <- Seq(100L, 1770L, 5500L); job <- Seq(1600L, 100000L)) {
      var files = four
      var written = 0L
      val runs =
        Iterator.continually(plan(files, options.copy(maxBytes = Some(budget), maxJobBytes = job)))
          .takeWhile(_.groups.nonEmpty).take(100).map { found =>
            assert(found.groups.map(_.bytes).sum <= budget)
            written += found.groups.map(_.bytes).sum
            val cubeOf = found.groups.flatMap(group =>
              group.files.map(_.file.path -> CubeTag(group.files.head.file.path, true, true)))
              .toMap
            files = files.map(f => f.copy(cube = cubeOf.get(f.path).orElse(f.cube)))
          }.size
      info(s"$budget, $job: $runs runs")
      assert(files.forall(_.cube.exists(_.overlapping.isEmpty)) || budget == 100)
      assert(runs < 100)
      assert(written === (if (budget == 100) 0 else 25600))
    }
  }
}
