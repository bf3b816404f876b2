package io.zcube.planning

import org.scalatest.funsuite.AnyFunSuite

class LazyLevelingSuite extends AnyFunSuite {
  import StreamSimulation._

  private val byDefault = PlanOptions(targetFileBytes = RowsPerFile)
  private val lessWriting = byDefault.copy(fanOut = 8, mergeShare = 0.6)

  // An append as large as a file, and one of two thirds of it.
  private val appends = Seq(RowsPerFile.toInt, RowsPerFile.toInt * 2 / 3)

  private def simulate(stream: Stream, options: PlanOptions, rows: Int): Outcome =
    new StreamSimulation(stream, options, rows).run(200)

  for (stream <- Seq(Uniform, HotTenth); rows <- appends)
    test(s"$stream stream of 200 appends of $rows rows: rewriting and reading are bounded") {
      val outcome = simulate(stream, byDefault, rows)
      assert(outcome.rewritten <= 8.0 && outcome.read <= 1.4)
      val less = simulate(stream, lessWriting, rows)
      assert(less.rewritten <= 5.0 && less.read <= 2.0)
    }

  for (rows <- appends)
    test(s"data in time order, $rows rows at once, is hardly rewritten") {
      val outcome = simulate(TimeCorrelated, byDefault, rows)
      assert(outcome.rewritten <= 2.0 && outcome.read <= 1.2)
    }

  test("appends of a tenth of a file are rewritten hardly more often") {
    assert(simulate(Uniform, byDefault, RowsPerFile.toInt / 10).rewritten <= 8.0)
  }

  test("policy all rewrites everything each time, and reads like a full clustering") {
    val outcome =
      new StreamSimulation(Uniform, byDefault.copy(policy = MergeAll)).run(20)
    // 20 appends of 0.5 %: rows written are 20 + 0.005 · (1 + … + 20), of appended ones 0.1.
    assert(math.abs(outcome.rewritten - (20 + 0.005 * 210) / 0.1) < 0.01)
    assert(math.abs(outcome.read - 1.0) < 0.02)
  }

  test("a run after which nothing was appended plans nothing") {
    val simulation = new StreamSimulation(Uniform, byDefault)
    (1 to 5).foreach { _ =>
      simulation.run(7)
      assert(simulation.planNow.groups.isEmpty)
    }
  }

  private def file(name: String, low: Long, bytes: Long = 100, cube: Option[String] = None) =
    DataFile(
      name,
      bytes,
      Some(bytes),
      cube = cube.map(CubeTag(_, matches = true)),
      ranges = new KeyRanges(Array(low, 0L), Array(low + 99, 99L)))

  private val large = (0 until 20).map(i => file(s"old-$i", i * 100L, cube = Some("old")))
  private val small = Seq(file("a", 2000, cube = Some("a")), file("b", 2100, cube = Some("b")))

  private def planOf(fresh: DataFile*): ClusteringPlan =
    new ZCubePlanner(byDefault).plan(large ++ small ++ fresh)

  for ((where, low, high, enough) <- Seq(
      ("beside the largest cube", 2300L, 2399L, 6),
      ("over the largest cube", 0L, 1999L, 3)))
    test(s"fresh files of the right size $where wait until $enough overlap") {
      val ranges = new KeyRanges(Array(low, 0L), Array(high, 99L))
      val fresh = (1 to enough).map(i => file(s"new-$i", low).copy(ranges = ranges))
      for (few <- (1 until enough).map(fresh.take)) {
        val plan = planOf(few: _*)
        assert(plan.groups.isEmpty)
        assert(plan.kept.collect { case PlannedFile(f, FileReason.Waits) => f } === few)
      }
      assert(planOf(fresh: _*).groups.map(_.files.map(_.file)) === Seq(fresh))
    }

  test("disjoint fresh files wait until there are many") {
    val many = (1 to 12).map(i => file(s"new-$i", 2200 + i * 100L))
    assert(planOf(many.take(11): _*).groups.isEmpty)
    assert(planOf(many: _*).groups.map(_.files.size) === Seq(12))
  }

  test("a file that fresh files overlap joins them if it has at most a tenth of their bytes") {
    def reasons(fresh: Int) = planOf((1 to fresh).map(i => file(s"new-$i", 2100)): _*)
      .groups.flatMap(_.files).collect {
        case f if f.reason != FileReason.Fresh =>
          f.file.path -> f.reason
      }
    assert(reasons(12) === Seq("b" -> FileReason.Overlaps))
    assert(reasons(9) === Nil)
  }

  // Files of a table in time order, some with only NULLs.
  private val onlyNulls = new KeyRanges(Array(KeyRanges.NoLower), Array(KeyRanges.NoUpper))

  private def inTime(name: String, low: Long, cube: Option[String]): DataFile =
    file(name, low, cube = cube).copy(ranges = new KeyRanges(Array(low), Array(low + 99)))

  test("files with only NULLs don't make cubes overlap") {
    val oldest = (0 until 50).map { i =>
      val file = inTime(s"old-$i", i * 100L, Some("old"))
      if (i < 40) file else file.copy(ranges = onlyNulls)
    }
    def small(cube: Int) = (0 until 4).map { i =>
      val file = inTime(s"$cube-$i", 5000 + cube * 400L + i * 100L, Some(s"cube-$cube"))
      if (i > 0) file else file.copy(ranges = onlyNulls)
    }
    for (cubes <- 1 to 10; fresh <- Seq(Nil, Seq(inTime("new", 20000, None)))) {
      val plan = new ZCubePlanner(byDefault).plan(oldest ++ (1 to cubes).flatMap(small) ++ fresh)
      assert(plan.groups.flatMap(_.files).map(_.file).toSet.subsetOf(fresh.toSet), cubes)
    }
    // Nor does a cube of such files alone, or a file.
    val blank =
      (1 to 4).map(i => file(s"blank-$i", 0, cube = Some(s"b-$i")).copy(ranges = onlyNulls))
    assert(new ZCubePlanner(byDefault).plan(oldest ++ blank).groups.isEmpty)
    val new2 = (1 to 2).map(i => file(s"new-$i", 0).copy(ranges = onlyNulls))
    assert(new ZCubePlanner(byDefault).plan(oldest ++ blank ++ new2).groups.isEmpty)
  }

  test("what has only NULLs in one column is merged with such files that it overlaps in others") {
    def at(name: String, x: Option[Long], y: (Long, Long), cube: Option[String]) =
      file(name, 0, cube = cube).copy(ranges = new KeyRanges(
        Array(x.getOrElse(KeyRanges.NoLower), y._1),
        Array(x.map(_ + 99).getOrElse(KeyRanges.NoUpper), y._2)))
    val old = for (x <- None +: (0L to 9L).map(i => Some(i * 100)); y <- 0L to 9L)
      yield at(s"old-$x-$y", x, (10 * y, 10 * y + 9), Some("old"))
    val blank = at("later", Some(2000), (0, 99), None) +:
      (1 to 8).map(i => at(s"new-$i", None, (0, 79), None))
    val group = new ZCubePlanner(byDefault).plan(old ++ blank).groups.flatMap(_.files)
    val touched = group.filter(_.reason == FileReason.LargestCube).map(_.file)
    assert(touched.toSet === old.filter(f =>
      f.path.contains("None") && f.ranges.upper(1) < 80).toSet)
    assert(group.size === 17)
  }

  private def slices(cube: String, count: Int, low: Long, high: Long): Seq[DataFile] =
    (0 until count).map { i =>
      def at(n: Int) = low + (high - low) * n / count
      file(s"$cube-$i", 0, cube = Some(cube))
        .copy(ranges = new KeyRanges(Array(at(i)), Array(at(i + 1) - 1)))
    }

  private def over(name: String, low: Long, high: Long): DataFile =
    file(name, 0).copy(ranges = new KeyRanges(Array(low), Array(high)))

  private def plan(files: Seq[DataFile]): Set[String] =
    new ZCubePlanner(byDefault).plan(files).groups.flatMap(_.files).map(_.file.path).toSet

  private def paths(files: Seq[DataFile]): Set[String] = files.map(_.path).toSet

  private val whole = slices("whole", 30, 0, 300)

  private def in(from: Int, until: Int)(file: DataFile): Boolean =
    file.ranges.lower(0) >= from && file.ranges.upper(0) < until

  for ((from, until) <- Seq((60, 240), (30, 290), (0, 200), (120, 180)))
    test(s"appends from $from to $until are merged with what is there, and then all is at rest") {
      val (inside, rest) = whole.partition(in(from, until))
      for (count <- Seq(inside.size / 5 + 1, inside.size, 2 * inside.size)) {
        val later = (1 to count).map(i => over(s"later-$i", from.toLong, until - 1L))
        assert(plan(whole ++ later) === paths(inside ++ later))
        val region = slices("region", inside.size + count, from.toLong, until.toLong)
        assert(plan(rest ++ region).isEmpty, count)
      }
    }

  test("appends of several times the table are merged with it at once, not in the next run") {
    for (times <- Seq(3, 4, 5, 20)) {
      val later = (1 to times * whole.size).map(i => over(s"later-$i", 0, 299))
      assert(plan(whole ++ later) === paths(whole ++ later), times)
    }
    val (inside, rest) = whole.partition(in(60, 240))
    val later = (1 to 3 * inside.size).map(i => over(s"later-$i", 60, 239))
    assert(plan(whole ++ later) === paths(inside ++ later))
    assert(plan(rest ++ slices("region", 4 * inside.size, 60, 240)).isEmpty)
  }

  test("what is left around a merged region is merged with appends over both") {
    val rest = whole.filterNot(in(60, 240)) ++ slices("region", 24, 60, 240)
    val region = rest.filter(in(60, 240))
    val same = (1 to 6).map(i => over(s"same-$i", 60, 239))
    assert(plan(rest ++ same) === paths(region ++ same))
    val both = (1 to 8).map(i => over(s"both-$i", 0, 299))
    assert(plan(rest ++ both) === paths(rest ++ both))
  }

  test("renewed files of a cube are merged with the rest of it at once") {
    def renewed(as: DataFile => DataFile) = whole.zipWithIndex.map { case (file, i) =>
      if (i % 3 == 1) as(file) else file
    }
    val between = paths(whole.drop(1).dropRight(1))
    assert(plan(renewed(_.copy(deletedShare = 0.06))) === between)
    assert(plan(renewed(_.copy(cube = None))) === between)
  }

  test("the largest cube is that with the most values, whatever NULLs are in others") {
    val old = slices("old", 40, 0, 4000)
    val small = slices("small", 10, 0, 4000)
    val nulls = (1 to 60).map { i =>
      file(s"null-$i", 0, cube = Some("nulls")).copy(ranges = onlyNulls)
    }
    assert(plan(old ++ small ++ nulls) === paths(old ++ small))
  }

  test("cubes in each other's gaps aren't merged") {
    val (even, odd) = slices("all", 40, 0, 400).zipWithIndex.partition(_._2 / 5 % 2 == 0)
    val other = odd.map(_._1.copy(cube = Some(CubeTag("other", matches = true))))
    for (count <- Seq(5, 10, 20)) assert(plan(even.map(_._1) ++ other.take(count)).isEmpty)
  }

  for (columns <- 1 to 4)
    test(s"a small cube along a diagonal of $columns columns is merged into the largest") {
      def along(files: Seq[DataFile]) = files.map { f =>
        f.copy(ranges = new KeyRanges(
          Array.fill(columns)(f.ranges.lower(0)),
          Array.fill(columns)(f.ranges.upper(0))))
      }
      val old = along(slices("old", 100, 0, 10000))
      for (count <- 1 to 40) {
        val small = along(slices("small", count, 0, 10000))
        assert(plan(old ++ small).size === (if (count < 20) 0 else 100 + count), count)
      }
    }

  test("a small cube that is mostly files with only NULLs is merged where the others are") {
    val old = slices("old", 100, 0, 10000)
    val nulls =
      (1 to 50).map(i => file(s"null-$i", 0, cube = Some("small")).copy(ranges = onlyNulls))
    assert(plan(old ++ slices("small", 30, 0, 10000) ++ nulls).size === 180)
    assert(plan(old ++ slices("small", 30, 10000, 20000) ++ nulls).isEmpty)
  }

  test("a fresh file of the right size with many deleted rows doesn't wait") {
    val right = file("new", 2300)
    assert(planOf(right.copy(deletedShare = 0.05)).groups.isEmpty)
    val groups = planOf(right.copy(deletedShare = 0.06)).groups
    assert(groups.map(_.files.map(_.file.path)) === Seq(Seq("new")))
  }

  test("files that don't amount to a cube yet are rewritten immediately") {
    assert(planOf(file("small", 2300, bytes = 49)).groups.size === 1)
    assert(planOf(file("large", 2300, bytes = 201)).groups.size === 1)
    assert(planOf(file("blind", 2300).copy(ranges = KeyRanges.Unknown)).groups.size === 1)
    assert(planOf(file("right", 2300), file("small", 2300, bytes = 10)).groups.size === 1)
    // By its reason, not its size: rows are deleted in a file of a cube.
    assert(planOf(file("torn", 2100, cube = Some("b")).copy(deletedShare = 0.5)).groups.size === 1)
    assert(new ZCubePlanner(byDefault).plan(Seq(file("first", 300))).groups.size === 1)
    assert(new ZCubePlanner(byDefault)
      .plan(large ++ small.take(1) :+ file("next", 2300))
      .groups
      .size === 1)
  }
}
