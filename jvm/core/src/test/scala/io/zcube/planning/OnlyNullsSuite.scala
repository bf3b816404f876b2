package io.zcube.planning

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Plans of tables in which files have only NULLs in one of two columns, or in both. */
class OnlyNullsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import OnlyNullsSuite._

  private val tables: Gen[Seq[DataFile]] = for {
    seed <- Gen.choose(0L, 1L << 40)
    count <- Gen.choose(0, 150)
    often <- Gen.oneOf(2, 5, 20)
  } yield {
    val random = new Random(seed)
    def bounds() =
      if (random.nextInt(often) == 0) None
      else {
        val low = random.nextInt(1000).toLong
        Some((low, low + random.nextInt(300)))
      }
    (1 to count).map { i =>
      DataFile(
        s"f$i",
        1 + random.nextInt(250).toLong,
        cube = random.nextInt(8) match {
          case 0 | 1 => None
          case n => Some(CubeTag(s"c$n", true, true, Option.when(n > 5)(s"job$n")))
        },
        ranges =
          if (random.nextInt(20) == 0) KeyRanges.Unknown else rangesOf(Seq(bounds(), bounds()))
      )
    }
  }

  private val anyOptions: Gen[PlanOptions] = for {
    policy <- Gen.oneOf(MergePolicy.all)
    stable <- Gen.oneOf(300L, 1000L, 10000L)
    budget <- Gen.option(Gen.choose(300L, 9000L))
    job <- Gen.oneOf(1L, 2000L, 1L << 40)
  } yield PlanOptions(
    policy,
    targetFileBytes = 100,
    minCubeBytes = stable,
    targetCubeBytes = stable * 3 / 2,
    maxBytes = budget,
    maxJobBytes = job)

  test("every file has one outcome, whatever the order") {
    forAll(tables, anyOptions, minSuccessful(500)) { (files, options) =>
      def plan(of: Seq[DataFile]) = new ZCubePlanner(options).plan(of)
      val found = plan(files)
      val fates = (found.groups.flatMap(_.files) ++ found.kept).map(_.file)
      assert(fates.sortBy(_.path) === files.sortBy(_.path))
      options.maxBytes.foreach(budget => assert(PlannedGroup.bytesOf(found.groups) <= budget))
      assert(found.groups.flatMap(_.extents).forall(extent => extent > 0 && extent <= 1))
      def fatesOf(plan: ClusteringPlan) = (plan.groups.map(_.files.toSet), plan.kept.toSet)
      assert(fatesOf(plan(new Random(1).shuffle(files))) === fatesOf(found))
    }
  }

  private def file(path: String, cube: Option[CubeTag], bounds: Option[(Long, Long)]*) =
    DataFile(path, 100, Some(100), cube = cube, ranges = rangesOf(bounds))

  private def tag(id: String, job: Option[String] = None) = Some(CubeTag(id, true, true, job))

  test("one cube with values in a column doesn't keep cubes without from being merged") {
    val large = (0 until 40).map { i =>
      val t = 100000L + i * 10
      file(s"large$i", tag("large"), Some((t, t + 9)), Some((0L, 999L)))
    }
    for (count <- Seq(5, 8, 11); valued <- Seq(0, 1)) {
      val small = for (k <- 0 until count; i <- 0 until 4) yield file(
        s"small$k-$i",
        tag(s"small$k"),
        Some((i * 250L, i * 250L + 249)),
        Option.when(k < valued)((0L, 999L)))
      val options = PlanOptions(targetFileBytes = 100, minCubeBytes = 100000)
      assert(new ZCubePlanner(options).plan(large ++ small).groups.nonEmpty, (count, valued))
    }
  }

  test("a job without values in a column is marked where it lies over marked files without") {
    val marked = for (k <- 0 until 3; i <- 0 until 20) yield file(
      s"marked$k-$i",
      tag(s"marked$k", Some(s"job$k")),
      Some((0L, 999L)),
      Option.when(i >= 10)((i * 100L, i * 100L + 99)))
    val options = PlanOptions(targetFileBytes = 100, minCubeBytes = 1000, targetCubeBytes = 1500)
    def marks(t: (Long, Long), x: Option[(Long, Long)]) = {
      val fresh = (0 until 20).map(i => file(s"fresh$i", None, Some(t), x))
      new ZCubePlanner(options).plan(marked ++ fresh).groups
        .filter(_.files.exists(_.file.path.startsWith("fresh"))).map(_.overlapping)
    }
    assert(marks((0, 999), None).forall(identity))
    assert(!marks((5000, 5999), None).exists(identity))
    assert(!marks((0, 999), Some((9000, 9999))).exists(identity))
  }

  test("extents are those of the columns in which the group has values") {
    val old = for (q <- 0 until 50; c <- 0 until 4) yield file(
      s"old$q-$c",
      tag("old"),
      Some((q * 10L, q * 10L + 9)),
      Some((c * 250L, c * 250L + 249)),
      Some((c.toLong, 999L)))
    for (x <- Seq(None, Some((0L, 999L)))) {
      val week =
        (0 until 4).map(i => file(s"week$i", None, Some((495L, 499L)), Some((0L, 999L)), x))
      val found = new Extents(old ++ week).of(week.map(PlannedFile(_, FileReason.Fresh)))
      assert(found.size === 3 && found.head < 0.1 && found(1) === 1.0)
    }
  }

  test("runs with nothing new come to rest") {
    forAll(tables, anyOptions, minSuccessful(200)) { (files, options) =>
      val planner = new ZCubePlanner(options)
      val known = files.filterNot(_.ranges.dimensions == 0)
      val runs = Iterator.iterate((known, 0)) { case (before, run) =>
        val groups = planner.plan(before).groups
        val taken = PlannedFile.pathsOf(groups.iterator.flatMap(_.files))
        val written = groups.zipWithIndex.flatMap { case (group, i) =>
          rewritten(group, s"run$run-$i")
        }
        (before.filterNot(f => taken(f.path)) ++ written, run + 1)
      }
      assert(runs.take(40).exists { case (now, _) => planner.plan(now).groups.isEmpty })
    }
  }
}

private object OnlyNullsSuite {

  /** None stands for a column with only NULLs. */
  def rangesOf(bounds: Seq[Option[(Long, Long)]]): KeyRanges = new KeyRanges(
    bounds.map(_.fold(KeyRanges.NoLower)(_._1)).toArray,
    bounds.map(_.fold(KeyRanges.NoUpper)(_._2)).toArray)

  /** What a layout makes of a group: NULLs in files of their own, the rest in slices of one column. */
  def rewritten(group: PlannedGroup, id: String): Seq[DataFile] = {
    val parts = KeyRanges.byNulls(group.files.map(_.file))(_.ranges)
    val files = parts.flatMap { part =>
      val box = KeyRanges.union(part.map(_.ranges))
      val bytes = DataFile.bytesOf(part)
      val count = math.max(1L, bytes / 100)
      val cut = (0 to 1).find(!box.isEmpty(_))
      (0L until count).map { i =>
        val bounds = (0 to 1).map { column =>
          val (low, high) = (box.lower(column), box.upper(column))
          Option.when(!box.isEmpty(column)) {
            if (cut.contains(column))
              (low + (high - low) * i / count, low + (high - low) * (i + 1) / count)
            else (low, high)
          }
        }
        DataFile("", bytes / count, ranges = rangesOf(bounds))
      }
    }
    val cubes = CubeSizes(group.sizes.stable, group.sizes.target).cut(files)(_.bytes)
    for {
      (cube, n) <- cubes.zipWithIndex
      (file, i) <- cube.zipWithIndex
    } yield file.copy(
      path = s"$id-$n-$i",
      cube = Some(CubeTag(s"$id-$n", true, true, Option.when(group.overlapping)(id))))
  }
}
