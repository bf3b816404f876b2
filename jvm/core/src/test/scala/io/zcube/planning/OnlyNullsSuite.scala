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
