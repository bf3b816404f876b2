package io.zcube.planning

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.zcube.Night
import io.zcube.layout.FileCount

class ZCubePlannerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val options =
    PlanOptions(targetFileBytes = 100, minCubeBytes = 1000, targetCubeBytes = 1500)
  private val all = options.copy(policy = MergeAll)

  private def fresh(name: String, bytes: Long = 100): DataFile = DataFile(name, bytes)

  private def cube(id: String, files: Int, bytes: Long = 100, matches: Boolean = true) =
    (1 to files).map(i => DataFile(s"$id-$i", bytes, cube = Some(CubeTag(id, matches))))

  private def reasons(plan: ClusteringPlan): Map[String, FileReason] =
    (plan.groups.flatMap(_.files) ++ plan.kept).map(f => f.file.path -> f.reason).toMap

  private def plan(files: Seq[DataFile], options: PlanOptions): ClusteringPlan =
    new ZCubePlanner(options).plan(files)

  test("policy all rewrites fresh files and partial cubes; stable cubes and other columns stay") {
    val files = Seq(fresh("f")) ++ cube("partial", 9) ++ cube("stable", 10) ++
      cube("other", 3, matches = false)
    val found = plan(files, all)
    assert(found.groups.size === 1)
    assert(found.groups.head.files.map(_.file.path).toSet ===
      (cube("partial", 9).map(_.path) :+ "f").toSet)
    assert(reasons(found)("stable-1") === FileReason.Stable)
    assert(reasons(found)("other-1") === FileReason.KeptOtherColumns)
  }

  test("a group knows how much of each column it covers, unless that is about equal") {
    def file(name: String, cube: Option[String], x: (Long, Long), y: (Long, Long)) = DataFile(
      name,
      100,
      cube = cube.map(CubeTag(_, matches = true)),
      ranges = new KeyRanges(Array(x._1, y._1), Array(x._2, y._2)))
    val old = for (x <- 0L until 5; y <- 0L until 5)
      yield file(s"$x-$y", Some("a"), (10 * x, 10 * x + 9), (10 * y, 10 * y + 9))
    def extents(old: Seq[DataFile], fresh: Seq[DataFile]) =
      plan(old ++ fresh, options.copy(policy = LazyLeveling, mergeShare = 9)).groups
        .map(_.extents.map(extent => math.round(extent * 1000) / 1000.0))
    def fresh(x: (Long, Long), y: (Long, Long)) = (1 to 5).map(i => file(s"new-$i", None, x, y))
    val slices = fresh((60, 70), (0, 49))
    assert(extents(old, slices) === Seq(Seq(5 / 30.0, 1.0).map(e => math.round(e * 1000) / 1000.0)))
    // The last fifth of y is met as well.
    assert(extents(old, fresh((49, 70), (0, 49))) === Seq(Seq(0.333, 1.0)))
    assert(extents(old, slices.map(_.copy(bytes = 600))) === Seq(Nil))
    assert(extents(old, slices.map(_.copy(ranges = KeyRanges.Unknown))) === Seq(Nil))
    assert(extents(old, fresh((0, 49), (0, 49))) === Seq(Nil))
    // Files that all cover x say nothing of its distribution, nor do files without minima.
    val wide = old.map(f =>
      f.copy(ranges = new KeyRanges(Array(0L, f.ranges.lower(1)), Array(49L, f.ranges.upper(1)))))
    assert(extents(wide, fresh((1, 48), (0, 3))) === Seq(Seq(1.0, 0.333)))
    val unknown = old.map(f =>
      f.copy(ranges = new KeyRanges(
        Array(f.ranges.lower(0), Long.MinValue),
        Array(f.ranges.upper(0), Long.MaxValue))))
    assert(extents(unknown, fresh((0, 49), (1, 2))) === Seq(Nil))
    assert(plan(slices, options).groups.map(_.extents) === Seq(Nil))
  }

  test("one cube without fresh files needs no work, two cubes do") {
    assert(plan(cube("a", 3), all).groups.isEmpty)
    assert(plan(cube("a", 3) ++ cube("b", 3), all).groups.size === 1)
    assert(plan(Nil, all).groups.isEmpty)
  }

  private val inNoOrder = (1 to 40).map(i => fresh(f"f$i%02d"))
  private val inOrder = inNoOrder.zipWithIndex.map { case (file, i) =>
    file.copy(ranges = new KeyRanges(Array(0L, i * 10L), Array(99L, i * 10L + 9)))
  }

  test("what exceeds a cube is one job, which makes several cubes") {
    for (files <- Seq(inNoOrder, inOrder)) {
      val found = plan(files, all)
      assert(found.groups.map(_.files.size) === Seq(40))
      assert(found.groups.map(_.cubes) === Seq(3))
    }
  }

  test("a cube isn't left below the stable size because a group is a little above the target") {
    val sixteen = inNoOrder.take(16)
    assert(plan(sixteen, all).groups.map(_.cubes) === Seq(1))
    assert(plan(inNoOrder.take(21), all).groups.map(_.cubes) === Seq(2))
    for (count <- 10 to 40; group <- plan(inNoOrder.take(count), all).groups)
      assert(group.bytes / group.cubes >= 1000)
  }

  test("jobs that can't hold all files in order of a column have regions") {
    val found = plan(new Random(5).shuffle(inOrder), all.copy(maxJobBytes = 2000))
    assert(found.groups.map(_.bytes) === Seq(2000, 2000))
    val places = found.groups.map(_.files.map(_.file.ranges.lower(1) / 10).sorted)
    assert(places.sortBy(_.head).flatten === (0L until 40L))
  }

  test("a target below the minimum counts as the minimum") {
    assert(plan(inNoOrder, all.copy(targetCubeBytes = 10)).groups.map(_.cubes) === Seq(3))
  }

  test("no job exceeds maxJobBytes or the budget, but a cube always fits") {
    val two = plan(inNoOrder, all.copy(maxJobBytes = 2000))
    assert(two.groups.map(_.bytes) === Seq(2000, 2000))
    assert(plan(inNoOrder, all.copy(maxJobBytes = 1)).groups.map(_.bytes).max === 1400)
    val budget = plan(inNoOrder, all.copy(maxBytes = Some(1700)))
    assert(budget.groups.map(_.bytes) === Seq(1400))
  }

  test("no job is so small that its cube would be merged again, whatever bounds it") {
    for {
      count <- 10 to 100
      job <- Seq(0L, 1000L, 1500L, 2000L, 3000L)
      files <- Seq(inNoOrder, inOrder, inOrder.map(_.copy(ranges = KeyRanges.Unknown)))
      many = files ++ files.map(f => f.copy(path = s"g${f.path}")) ++ files.map(f =>
        f.copy(path = s"h${f.path}"))
    } {
      val found =
        plan(new Random(count.toLong).shuffle(many).take(count), all.copy(maxJobBytes = job))
      assert(found.groups.forall(_.bytes >= 1000), (count, job))
      assert(found.groups.forall(_.bytes <= math.max(job, 2100) + 100), (count, job))
    }
  }

  test("a merge that fits the budget isn't divided into cubes that would be merged again") {
    for (budget <- Seq(1600L, 1700L, 2000L, 2300L, 100000L); job <- Seq(0L, 1000L, 1500L)) {
      val files = cube("a", 8) ++ cube("b", 8)
      val found = plan(files, all.copy(maxJobBytes = job, maxBytes = Some(budget)))
      assert(found.groups.map(_.bytes) === Seq(1600), (budget, job))
    }
  }

  test("ranges matter if rows may decide that there are several jobs") {
    def mayDivide(options: PlanOptions, files: Seq[DataFile]) =
      new JobDivision(options).mayDivide(files)
    val known = inNoOrder.map(_.copy(rows = Some(50)))
    val many = all.copy(maxRecords = 10, maxJobFiles = 120)
    assert(mayDivide(many, known) && mayDivide(many, known :+ fresh("unknown")))
    assert(!mayDivide(all, known) && !mayDivide(all, known :+ fresh("unknown")))
    assert(!mayDivide(many.copy(maxJobFiles = 300), known))
  }

  test("a job has no more than maxJobFiles, also if rows decide their number, unless a cube has") {
    val known = inNoOrder.map(_.copy(rows = Some(50)))
    def files(options: PlanOptions) = plan(known, options).groups.map { group =>
      FileCount.of(group.bytes, options.targetFileBytes, group.files.size * 50L, options.maxRecords)
    }
    assert(files(all.copy(maxRecords = 10, maxJobFiles = 120)) === Seq(112, 112))
    assert(files(all.copy(maxRecords = 10, maxJobFiles = 300)).size === 1)
    assert(plan(known, all.copy(maxRecords = 10, maxJobFiles = 1)).groups.size === 3)
  }

  test("full cubes that overlap become one job if all cubes count as small") {
    val files = (1 to 4).flatMap(i => cube(s"c$i", 15))
    assert(plan(files, all).groups.isEmpty)
    val once = all.copy(minCubeBytes = 20000, targetCubeBytes = 20000, maxJobBytes = 20000)
    assert(plan(files, once).groups.map(_.bytes) === Seq(6000))
  }

  test("badly sized files are rewritten only if that brings them closer to the target") {
    def cubeOf(id: String, files: Int, bytes: Long, rows: Long) =
      cube(id, files, bytes).map(_.copy(rows = Some(rows)))
    def resized(files: Seq[DataFile]) =
      plan(files, all).groups.flatMap(_.files).filter(_.reason == FileReason.FileSize)
        .groupMapReduce(_.file.cube.get.id)(_ => 1)(_ + _)
    val (short, long) = (cubeOf("short", 40, 30, 10), cubeOf("long", 10, 300, 10))
    // By itself each becomes files of 100 bytes: of 33 and of 3 rows.
    assert(resized(short) === Map("short" -> 40))
    assert(resized(long) === Map("long" -> 10))
    // Together 500 rows make 40 files of 12 or 13 rows, nearly as before: one after the other.
    assert(resized(short ++ long) === Map("short" -> 40))
    assert(resized((short ++ long).map(_.copy(rows = None))) === Map.empty)
    // Files of the same row length come closer, also with others or with fresh files.
    val many = cubeOf("many", 40, 30, 30)
    assert(resized(many ++ long.map(_.copy(rows = Some(300)))) === Map("many" -> 40, "long" -> 10))
    assert(resized(many ++ Seq(fresh("f").copy(rows = Some(100)))) === Map("many" -> 40))
    // A smaller target is followed, also where rows differ in length.
    val (wide, narrow) = (cubeOf("wide", 70, 400, 10), cubeOf("narrow", 30, 400, 80))
    assert(resized(wide ++ narrow).size === 1)
    // A file without rows disappears.
    val empty = cubeOf("empty", 1, 10, 0).map(_.copy(cube = many.head.cube))
    assert(resized(many ++ empty) === Map("many" -> 41))
    // What a night's fresh files would make of the cube is what it is already.
    val nightly = (1 to 40).map(i => fresh(s"f$i").copy(rows = Some(10)))
    assert(resized(short ++ nightly) === Map.empty)
  }

  test("cube sizes of 0, which Delta's settings allow, make cubes of a file") {
    val none = all.copy(minCubeBytes = 0, targetCubeBytes = 0, maxJobBytes = 0)
    assert(plan(inNoOrder, none).groups.map(group => (group.bytes, group.cubes)).toSet ===
      Set((100L, 1)))
    assert(plan(inNoOrder, none.copy(maxJobBytes = 4000)).groups.map(_.cubes) === Seq(40))
  }

  test("of the cubes of a budget's jobs, none has to be merged again") {
    var files: Seq[DataFile] = inNoOrder ++ inNoOrder.map(f => f.copy(path = "g" + f.path))
    for (night <- 1 to 5) {
      val group = plan(files, options.copy(maxBytes = Some(1900))).groups.head
      assert(group.cubes === 1 && group.bytes >= 1000)
      val taken = group.files.map(_.file.path).toSet
      files = files.map { file =>
        if (taken(file.path))
          file.copy(cube =
            Some(CubeTag(s"c$night", true, true, Option.when(group.overlapping)(s"j$night"))))
        else file
      }
    }
    assert(plan(files, options.copy(maxBytes = Some(1900))).groups.isEmpty)
  }

  test("a stable cube that lost rows falls back to partial") {
    val files = cube("a", 10).map(_.copy(bytes = 99)) :+ fresh("f")
    val Seq(group) = plan(files, all).groups
    assert(group.files.map(_.file.path).toSet === files.map(_.path).toSet)
  }

  test("FULL also rewrites files with other columns") {
    val files = cube("a", 3) ++ cube("other", 3, matches = false)
    val found = plan(files, all.copy(otherColumns = true))
    assert(found.groups.flatMap(_.files).size === 6)
    assert(reasons(found)("other-2") === FileReason.OtherColumns)
    assert(plan(cube("a", 3), all.copy(otherColumns = true)).groups.isEmpty)
    assert(plan(cube("a", 3), options.copy(force = true)).groups.head.files.size === 3)
  }

  private def alongAnother(id: String, files: Int): Seq[DataFile] =
    cube(id, files).map(_.copy(cube = Some(CubeTag(id, matches = false, sameColumns = true))))

  test("cubes with another curve stay, are maintained, and nothing is merged with them") {
    val old = alongAnother("a", 3) ++ alongAnother("b", 3) ++ alongAnother("stable", 12)
    for (policy <- MergePolicy.all) {
      val kept = plan(old, options.copy(policy = policy, otherColumns = true))
      assert(kept.groups.isEmpty)
      assert(reasons(kept).values.toSet === Set(FileReason.KeptOtherLayout))
      val found = plan(old :+ fresh("f"), options.copy(policy = policy, otherColumns = true))
      assert(found.groups.map(_.files.map(_.file.path)) === Seq(Seq("f")))
    }
    val worn = old.map(f => if (f.path == "b-2") f.copy(deletedShare = 0.06) else f)
    val cared = plan(worn, options)
    assert(cared.groups.map(_.files.map(_.file.path)) === Seq(Seq("b-2")))
    assert(reasons(cared)("b-2") === FileReason.DeletedRows)
  }

  test("requesting another layout rewrites cubes with another curve") {
    val files = cube("ours", 3) ++ alongAnother("a", 3) ++ cube("other", 3, matches = false)
    val found = plan(files, all.copy(otherLayouts = true))
    assert(reasons(found)("a-1") === FileReason.OtherLayout)
    assert(reasons(found)("other-1") === FileReason.KeptOtherColumns)
    assert(plan(alongAnother("a", 3), options.copy(force = true)).groups.head.files.size === 3)
  }

  test("files with many deleted rows are rewritten, the others of their cube stay") {
    val files = cube("a", 4).map(f => if (f.path == "a-2") f.copy(deletedShare = 0.06) else f)
    val found = plan(files, options.copy(mergeShare = 10))
    assert(found.groups.flatMap(_.files).map(f => (f.file.path, f.reason)) ===
      Seq("a-2" -> FileReason.DeletedRows))
    val few = cube("a", 4).map(_.copy(deletedShare = 0.05))
    assert(plan(few, options).groups.isEmpty)
  }

  test("a cube with far too many or too few files is rewritten; a small cube is not") {
    assert(plan(cube("a", 20, bytes = 10), options).groups.flatMap(_.files).size === 20)
    assert(plan(cube("a", 2, bytes = 450), options).groups.flatMap(_.files).size === 2)
    assert(plan(cube("a", 1, bytes = 10), options).groups.isEmpty)
    // They are this small because of the row limit per file, and must not be rewritten forever.
    val limited = cube("a", 20, bytes = 10).map(_.copy(rows = Some(90L)))
    assert(plan(limited, options.copy(maxRecords = 100)).groups.isEmpty)
  }

  test("files that WHERE excludes count for the size of their cube") {
    val files = cube("a", 10).filter(_.path == "a-1") :+ fresh("f")
    val rest = Map("a" -> CubeRest(9, 9 * files.head.bytes, None))
    def rewritten(outside: Map[String, CubeRest]) =
      new ZCubePlanner(all).planPartitions(Seq(files), outside).groups.flatMap(_.files)
        .map(_.file.path)
    assert(rewritten(rest) === Seq("f"))
    assert(rewritten(Map.empty).toSet === Set("f", "a-1"))
  }

  test("auto compaction leaves fresh files that aren't small, but not those of cubes") {
    val small = options.copy(dueBelow = Some(50))
    val found = plan(Seq(fresh("a", 49), fresh("b", 50)), small)
    assert(found.groups.flatMap(_.files).map(_.file.path) === Seq("a"))
    assert(reasons(found)("b") === FileReason.NotSmall)
    val worn = cube("c", 10).map(_.copy(deletedShare = 0.5))
    assert(plan(worn, small).groups.flatMap(_.files).size === worn.size)
  }

  test("a budget goes to the most useful cubes, and the rest is reported") {
    val files = (1 to 30).map(i => fresh(f"f$i%02d"))
    val found = plan(files, options.copy(maxBytes = Some(1700)))
    val bytes = found.groups.map(_.bytes).sum
    assert(bytes <= 1700 && bytes >= 1000)
    val left = found.kept.filter(_.reason == FileReason.OverBudget)
    assert(left.size + found.groups.flatMap(_.files).size === 30)
    assert(plan(files, options.copy(maxBytes = Some(50))).groups.isEmpty)
  }

  test("a merge over budget is left, but its fresh files are written") {
    val files = fresh("f") +: (cube("a", 3) ++ cube("b", 3))
    val found = plan(files, all.copy(maxBytes = Some(450)))
    assert(found.groups.flatMap(_.files).map(_.file.path) === Seq("f"))
    assert(found.kept.map(_.reason).toSet === Set(FileReason.OverBudget))
  }

  test("of two partitions, the budget goes to the one with the higher share of fresh bytes") {
    val mixed = fresh("f") +: (cube("a", 1, bytes = 150) ++ cube("b", 1, bytes = 150))
    val onlyFresh = Seq(fresh("g"), fresh("h"), fresh("i"))
    val planner = new ZCubePlanner(all.copy(maxBytes = Some(400)))
    val found = planner.planPartitions(Seq(mixed, onlyFresh))
    assert(found.groups.map(_.files.map(_.file.path)) === Seq(Seq("g", "h", "i"), Seq("f")))
    assert(found.kept.map(_.reason) === Seq.fill(2)(FileReason.OverBudget))
  }

  test("fresh files that never fit beside those of the night are written in parts") {
    val budget = Some(500L)
    val planner = new ZCubePlanner(options.copy(maxBytes = budget))
    def files(partition: String, count: Int, bytes: Long) =
      (1 to count).map(i => DataFile(s"$partition-$i", bytes))
    def planned(night: Seq[DataFile], backfill: Seq[DataFile]) =
      planner.planPartitions(Seq(night, backfill).filter(_.nonEmpty)).groups.map(_.bytes)
    assert(planned(files("night", 3, 100), files("fill", 5, 50)) === Seq(300, 150))
    assert(planned(files("night", 3, 100), files("fill", 4, 50)) === Seq(300, 200))
    // Little is left, so that a cube would be tiny.
    assert(planned(files("night", 4, 100), files("fill", 9, 50)) === Seq(450))
    assert(planned(files("night", 4, 100), Seq(fresh("fill", 101))) === Seq(400))
    // Of a merge, fresh files are written in parts too.
    val merge = cube("a", 3) ++ cube("b", 3) ++ files("fill", 5, 50)
    val parts = new ZCubePlanner(all.copy(maxBytes = budget))
      .planPartitions(Seq(files("night", 3, 100), merge)).groups
    assert(parts.map(_.bytes).sum > 400 && parts.map(_.bytes).sum <= 500)
    assert(parts.forall(_.files.forall(_.file.cube.isEmpty)))
    // What merges cubes alone comes after them.
    val both = Seq(files("night", 3, 100), files("fill", 5, 50), cube("c", 1) ++ cube("d", 1))
    assert(new ZCubePlanner(all.copy(maxBytes =
      budget)).planPartitions(both).groups.map(_.bytes) ===
      Seq(300, 150))
  }

  test("FULL with a budget takes first what isn't in the layout, then the largest") {
    val forced = all.copy(force = true, otherColumns = true, otherLayouts = true)
    def planned(files: Seq[Seq[DataFile]]) =
      new ZCubePlanner(forced.copy(maxBytes = Some(200))).planPartitions(files)
        .groups.map(_.files.head.file.path)
    val partitions = (0 to 9).map(i => cube(s"p$i", if (i < 2) 2 else 1, bytes = 50))
    assert(planned(partitions) === Seq("p0-1", "p1-1"))
    val fresh = partitions.last.map(_.copy(cube = None))
    assert(planned(partitions.init :+ fresh) === Seq("p9-1", "p0-1", "p2-1"))
    val others = partitions.drop(2).map(_.map(f =>
      f.copy(cube = f.cube.map(_.copy(matches = false)))))
    assert(planned(partitions.take(2) ++ others) === Seq("p2-1", "p3-1", "p4-1", "p5-1"))
    // The share counts, as new files may be in each partition.
    val mixed = partitions.map(files => files :+ DataFile(s"${files.head.path}-new", 1))
    assert(planned(mixed).take(2) === Seq("p2-1", "p3-1"))
  }

  private val onlyNulls = new KeyRanges(Array(KeyRanges.NoLower), Array(KeyRanges.NoUpper))

  private val tables: Gen[Seq[DataFile]] = for {
    seed <- Gen.choose(0L, 1L << 40)
    count <- Gen.choose(0, 120)
  } yield {
    val random = new Random(seed)
    (1 to count).map { i =>
      val low = random.nextInt(1000).toLong
      DataFile(
        s"f$i",
        1 + random.nextInt(250).toLong,
        deletedShare = if (random.nextInt(10) == 0) random.nextDouble() else 0,
        cube = random.nextInt(8) match {
          case 0 | 1 => None
          case n => Some(CubeTag(s"c$n", matches = n < 6, sameColumns = n != 7))
        },
        ranges =
          random.nextInt(9) match {
            case 0 => KeyRanges.Unknown
            case 1 => onlyNulls
            case _ => new KeyRanges(Array(low), Array(low + random.nextInt(300)))
          }
      )
    }
  }

  private val anyOptions: Gen[PlanOptions] = for {
    policy <- Gen.oneOf(MergePolicy.all)
    fanOut <- Gen.choose(2, 6)
    budget <- Gen.option(Gen.choose(1L, 9000L))
    full <- Gen.oneOf(true, false)
  } yield options.copy(
    policy = policy,
    fanOut = fanOut,
    maxBytes = budget,
    otherColumns = full,
    otherLayouts = full)

  test("every file has one outcome; stable and foreign files stay") {
    forAll(tables, anyOptions, Gen.choose(1, 4), minSuccessful(500)) { (files, options, count) =>
      def partitions(of: Seq[DataFile]) =
        of.groupBy(file => file.path.hashCode.abs % count).toSeq.sortBy(_._1).map(_._2)
      def plan(of: Seq[DataFile]) = new ZCubePlanner(options).planPartitions(partitions(of))
      val found = plan(files)
      val fates = (found.groups.flatMap(_.files) ++ found.kept).map(_.file.path)
      assert(fates.sorted === files.map(_.path).sorted)
      assert(options.otherColumns || found.groups.flatMap(_.files).forall { f =>
        // A file that has lost rows, or is far from the target, is taken out of any cube by the columns.
        val isWorn = f.reason == FileReason.DeletedRows || f.reason == FileReason.FileSize
        f.file.cube.forall(cube => cube.matches || (cube.sameColumns && isWorn))
      })
      options.maxBytes.foreach(budget => assert(found.groups.map(_.bytes).sum <= budget))
      val order = new Random(1).shuffle(files)
      def fatesOf(plan: ClusteringPlan) = (plan.groups.map(_.files.toSet), plan.kept.toSet)
      assert(fatesOf(plan(order)) === fatesOf(found))
    }
  }

  test("without a budget fresh files are rewritten, but a few of the right size may wait") {
    forAll(tables, anyOptions, minSuccessful(300)) { (files, options) =>
      val found = plan(files, options.copy(maxBytes = None))
      val taken = found.groups.flatMap(_.files).map(_.file.path).toSet
      val left = files.filter(f => f.cube.isEmpty && !taken(f.path))
      val waiting = found.kept.filter(_.reason == FileReason.Waits).map(_.file)
      assert(left.map(_.path).sorted === waiting.map(_.path).sorted)
      if (options.policy == MergeAll) assert(waiting.isEmpty)
      assert(waiting.size < 2.5 * options.fanOut)
      assert(waiting.forall(f => f.bytes >= 50 && f.bytes < 200))
    }
  }

  test("a cube is stable by all of its bytes, whatever part WHERE selects") {
    forAll(tables, anyOptions, minSuccessful(500)) { (files, options) =>
      val (selected, others) = files.partition(_.path.hashCode % 7 != 0)
      val rests = others.filter(_.cube.exists(_.sameColumns)).groupBy(_.cube.get.id).map {
        case (id, rest) => id -> CubeRest(rest.size.toLong, rest.map(_.bytes).sum, None)
      }
      val found = new ZCubePlanner(options).planPartitions(Seq(selected), rests)
      val taken = (found.groups.flatMap(_.files) ++ found.kept)
        .filter(f => f.reason.isDue || f.reason == FileReason.OverBudget)
        .map(_.file.path).toSet
      val stable = selected.filter(f => f.cube.exists(_.matches) && !taken(f.path))
        .groupBy(_.cube.get.id)
        .filter { case (id, members) =>
          members.map(_.bytes).sum + rests.get(id).fold(0L)(_.bytes) >= options.minCubeBytes
        }
      val kept = found.kept.filter(_.reason == FileReason.Stable).map(_.file.path)
      assert(kept.sorted === stable.values.flatten.map(_.path).toSeq.sorted)
    }
  }

  private val Gigabyte = 1L << 30

  /** Files side by side in one column. */
  private def inARow(id: String, from: Int, count: Int, bytes: Long, rows: Long): Seq[DataFile] =
    (from until from + count).map(i =>
      DataFile(
        f"$i%04d",
        bytes,
        Some(rows),
        cube = Some(CubeTag(id, matches = true)),
        ranges = new KeyRanges(Array(10L * i), Array(10L * i + 9))))

  for ((short, isRewritten) <- Seq(407000L -> true, 4070000L -> true, 60000L -> true))
    test(s"badly sized files get closer to the target, beside a cube of $short rows a file") {
      val long = (2.4 * Gigabyte).toLong
      val files = inARow("low", 0, 162, long, 48000) ++
        inARow("middle", 162, 60, Gigabyte, short) ++ inARow("high", 222, 162, long, 48000)
      val options = PlanOptions()
      val groups = new ZCubePlanner(options).plan(files).groups
      assert(groups.nonEmpty === isRewritten)
      for (group <- groups) {
        val rows = group.files.map(_.file.rows.get).sum
        val each = rows.toDouble / options.fileCount(group.bytes, Some(rows))
        for (PlannedFile(file, FileReason.FileSize) <- group.files)
          assert(file.bytes * each / file.rows.get < 2.0 * options.targetFileBytes)
      }
    }

  test("badly sized files of a small cube stay if they would be merged with its others") {
    // The policy merges all of a table that is smaller than a cube.
    val long = (2.4 * Gigabyte).toLong
    val files = inARow("all", 0, 13, long, 48000) ++ inARow("all", 13, 6, Gigabyte, 407000) ++
      inARow("all", 19, 13, long, 48000)
    for (policy <- MergePolicy.all)
      assert(new ZCubePlanner(PlanOptions(policy = policy)).plan(files).groups === Nil)
  }

  test("cubes that share only the value at their border come to rest") {
    def file(path: String, cube: String, low: Long, high: Long) = DataFile(
      path,
      Gigabyte,
      Some(1000000),
      cube = Some(CubeTag(cube, matches = true)),
      ranges = new KeyRanges(Array(low), Array(high)))
    // Rewriting the two with the value makes the same again.
    val apart = Seq(file("a", "one", 0, 0), file("b", "one", 0, 1), file("c", "two", 1, 1))
    assert(new ZCubePlanner(PlanOptions()).plan(apart).groups === Nil)
    // More than that is merged.
    val over = Seq(file("a", "one", 0, 1), file("b", "one", 1, 2), file("c", "two", 0, 2))
    assert(new ZCubePlanner(PlanOptions()).plan(over).groups.map(_.files.size) === Seq(3))
  }

  test("a file isn't too large where values aren't split") {
    val file = DataFile(
      "hot",
      60 * Gigabyte,
      Some(60000000),
      cube = Some(CubeTag("c", matches = true)),
      ranges = new KeyRanges(Array(0), Array(7)))
    def groups(splits: Boolean) =
      new ZCubePlanner(PlanOptions(splitsValues = splits)).plan(Seq(file)).groups
    assert(groups(splits = true).size === 1)
    assert(groups(splits = false) === Nil)
  }

  test("a file isn't too large because of a few rows that are about as large as files should be") {
    def groups(rows: Long) = new ZCubePlanner(PlanOptions()).plan(
      inARow("c", 0, 20, 6 * Gigabyte, rows)).groups
    assert(groups(17) === Nil)
    assert(groups(18).size === 1)
  }

  test("small files without row counts stay where a limit of rows decides their number") {
    val files = inARow("c", 0, 200, Gigabyte / 10, 0).map(_.copy(rows = None))
    def groups(limit: Long) =
      new ZCubePlanner(PlanOptions(maxRecords = limit)).plan(files).groups
    assert(groups(0).size === 1)
    assert(groups(1000) === Nil)
  }

  // A million, which takes a minute, with `ZCUBE_TESTS=all`.
  private val many = if (Night.all) 1000000 else 200000

  test(s"$many files are planned within a small heap") {
    val random = new Random(3)
    val files = (1 to many).map { i =>
      val low = Array.fill(2)(random.nextLong() >> 1)
      val tag = if (i % 100 == 0) None else Some(CubeTag(s"cube-${i % 50}", matches = true))
      DataFile(
        s"part-$i",
        100,
        Some(1L),
        cube = tag,
        ranges = new KeyRanges(low, low.map(_ + 1000000)))
    }
    val large = options.copy(minCubeBytes = many * 10L, targetCubeBytes = many * 15L)
    assert(
      plan(files, large).groups.flatMap(_.files).count(_.reason == FileReason.Fresh) === many / 100)
  }
}
