package io.zcube.clustering.run

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EqualTo, Literal}
import org.apache.spark.sql.types.IntegerType
import org.apache.spark.sql.zcube.{Sessions, SparkEvents}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.zcube.Night
import io.zcube.clustering.memory.{MemoryEngine, MemoryFile, MemoryTable}
import io.zcube.clustering.plan.OptimizeTask
import io.zcube.clustering.report.{RunDetails, WorkloadReport}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.{Extents, PlannedGroup}

/** Properties of a run on any table, whatever its format: of 30 tables, or of 60 with
  * `ZCUBE_TESTS=all`.
  */
class OptimizeRunnerSuite
    extends AnyFunSuite
    with ScalaCheckPropertyChecks
    with MemoryEngine {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(
      minSuccessful = if (Night.all) 60 else 8,
      sizeRange = 60)

  private case class Scenario(
      appends: Seq[Seq[InternalRow]],
      partitioned: Boolean,
      declared: Boolean,
      kind: LayoutKind,
      deleteEach: Int,
      severalCubes: Boolean,
      byOneJob: Boolean,
      batchRows: Option[Int],
      threads: Int,
      maxRows: Option[Int],
      rowsOfFile: Int)

  private val rows: Gen[InternalRow] = for {
    id <- Gen.choose(0L, 1000L)
    x <-
      Gen.frequency[Any](1 -> Gen.const(null), 4 -> Gen.choose(0, 5), 4 -> Gen.choose(-1000, 1000))
    y <- Gen.frequency[Any](1 -> Gen.const(null), 8 -> Gen.choose(0L, 50L))
    p <- Gen.choose(0, 2)
  } yield InternalRow(id, x, y, p)

  private val scenarios: Gen[Scenario] = for {
    appends <- Gen.choose(1, 5).flatMap(Gen.listOfN(_, Gen.listOf(rows)))
    partitioned <- Gen.oneOf(true, false)
    declared <- Gen.oneOf(true, false)
    kind <- Gen.oneOf(LayoutKind.all)
    deleteEach <- Gen.oneOf(0, 0, 2, 7)
    severalCubes <- Gen.oneOf(true, false)
    byOneJob <- Gen.oneOf(true, false)
    batchRows <- Gen.option(Gen.choose(10, 100))
    threads <- Gen.choose(1, 4)
    maxRows <- Gen.frequency(3 -> Gen.const(None), 1 -> Gen.some(Gen.choose(1, 100)))
    rowsOfFile <- Gen.oneOf(10, 10, 200)
  } yield Scenario(
    appends,
    partitioned && !declared,
    declared,
    kind,
    deleteEach,
    severalCubes,
    byOneJob,
    batchRows,
    threads,
    maxRows,
    rowsOfFile)

  private def tableOf(scenario: Scenario): MemoryTable = {
    val table = new MemoryTable(
      "t",
      schema,
      if (scenario.partitioned) Seq("p") else Nil,
      if (scenario.declared) Seq("x", "y") else Nil)
    scenario.appends.foreach(table.append)
    if (scenario.deleteEach > 0) table.delete(row => row.getLong(0) % scenario.deleteEach == 0)
    table
  }

  test("rows stay, files respect cubes, partitions and budget, and nothing else changes") {
    forAll(scenarios) { scenario =>
      val table = tableOf(scenario)
      val before = table.rows
      val filesBefore = table.now.files
      val commitsBefore = table.now.commits.size
      val sizes =
        if (!scenario.severalCubes) this.settings
        else if (scenario.byOneJob) severalByAJob
        else smallCubes
      val settings = sizes.copy(
        sizes.plan.copy(targetFileBytes = scenario.rowsOfFile * MemoryFile.RowBytes),
        batchBytes = scenario.batchRows.map(_ * MemoryFile.RowBytes),
        maxThreads = scenario.threads
      )
      val options = Seq("curve" -> scenario.kind.name) ++
        scenario.maxRows.map(n => "maxBytes" -> (n * MemoryFile.RowBytes).toString)
      val task = taskOf(table, settings, options)
      val result = run(task)

      assert(table.rows == before)
      val now = table.now
      assert(table.orphans.isEmpty)
      assert(table.unprepared.get == 0)
      assert(table.released.get == result.plan.groups.nonEmpty)
      assert(now.live.forall(file => table.store.paths(file.path)))
      val committed = result.outcomes.collect { case done: GroupOutcome.Committed => done }
      assert(committed.size == result.plan.groups.size)
      // One commit for each group, or for each batch of them.
      val versions = committed.map(_.version).distinct
      assert(now.commits.size == commitsBefore + versions.size)
      scenario.batchRows match {
        case None =>
          // Small groups share a commit; one that makes a stable cube has its own.
          committed.groupBy(_.version).values.foreach { batch =>
            assert(
              batch.size == 1 || batch.map(_.group.storedBytes).sum <= settings.plan.minCubeBytes)
          }
        case Some(capacity) =>
          // In the plan's order, with as much at once as fits.
          assert(
            committed.map(_.group.number) == committed.map(_.group).scanLeft(1)(_ + _.cubes).init)
          assert(committed.map(_.version) == committed.map(_.version).sorted)
          committed.groupBy(_.version).values.foreach { batch =>
            assert(batch.size == 1 ||
              batch.map(_.group.storedBytes).sum <= capacity * MemoryFile.RowBytes)
          }
      }
      val rewritten = result.plan.groups.flatMap(_.files.map(_.path))
      assert(rewritten.distinct.size == rewritten.size)
      assert(rewritten.forall(!now.files.contains(_)))
      assert((filesBefore.keySet -- rewritten).forall(now.files.contains))
      scenario.maxRows.foreach(n =>
        assert(result.plan.groups.map(_.liveBytes).sum <= n * MemoryFile.RowBytes))
      committed.foreach { done =>
        val added = done.rewritten.added.map(file => now.files(file.path))
        assert(done.rewritten.cubes.forall(_.files.nonEmpty))
        assert(done.rewritten.cubes.size <= done.group.cubes)
        done.rewritten.cubes.foreach { cube =>
          val files = cube.files.map(file => now.files(file.path))
          assert(files.forall(_.cube.contains((cube.id, task.layoutTag))))
          // No other file has it.
          assert(now.live.count(_.cube.exists(_._1 == cube.id)) == files.size)
        }
        assert(added.forall(_.partition == done.group.partition))
        assert(added.forall(file =>
          file.rowsIn(table.store).forall(row =>
            MemoryFile.partitionOf(table, row) == file.partition)))
        // The number of files that the rows fill.
        val rows = done.group.rows.get
        assert(added.map(_.rowCount).sum == rows)
        assert(added.size <= math.max(1, (rows + 9) / 10 * 2), s"$rows rows")
        if (rows > 0 && rows <= scenario.rowsOfFile) assert(added.size == 1, s"$rows rows")
      }
    }
  }

  test("a job that holds everything makes even cubes, which are regions of one layout") {
    val rows = (0L until 300L).map(row)
    val Seq(one, several) = Seq(settings, severalByAJob).map { sizes =>
      val table = new MemoryTable("t", schema, Nil, Seq("x", "y"))
      // In no order by x and y.
      rows.grouped(10).foreach(table.append)
      val result = run(taskOf(table, sizes))
      (table, result)
    }
    def layoutOf(table: MemoryTable) =
      table.now.live.map(file => table.store.read(file.path).map(_.getLong(0)).toSet).toSet
    assert(layoutOf(several._1) == layoutOf(one._1))
    val byCube = several._1.now.live.groupBy(_.cube.get._1)
    // None is below the stable size of 30 rows.
    assert(byCube.size == 9)
    assert(byCube.values.forall(files => math.abs(files.map(_.rowCount).sum - 300 / 9) <= 10))
    val Seq(GroupOutcome.Committed(rewritten, _, _)) = several._2.outcomes
    assert(rewritten.cubes.map(_.id).toSet == byCube.keySet)
    // Cubes follow each other in the layout's order.
    val linear = new MemoryTable("t", schema, Nil, Seq("x", "y"))
    rows.grouped(10).foreach(linear.append)
    run(taskOf(linear, severalByAJob, Seq("curve" -> "linear"))): Unit
    val slices = linear.now.live.groupBy(_.cube.get._1).values.toSeq
      .map(_.flatMap(file => linear.store.read(file.path)).map(_.getInt(1)))
      .sortBy(_.min)
    assert(slices.size == 9)
    slices.zip(slices.drop(1)).foreach { case (low, high) => assert(low.max <= high.min) }
    assert(several._2.plan.groups.map(_.cubes) == Seq(9))
    assert(run(taskOf(several._1, severalByAJob)).outcomes.isEmpty)
  }

  test("a second run finds nothing to do") {
    forAll(scenarios) { scenario =>
      val table = tableOf(scenario)
      val options = Seq("curve" -> scenario.kind.name)
      run(taskOf(table, settings, options))
      val once = table.now.files
      val again = run(taskOf(table, settings, options))
      assert(again.plan.groups.isEmpty)
      assert(table.now.files == once)
    }
  }

  test("small partitions share a job and a commit, and each is in order") {
    val table = new MemoryTable("t", schema, Seq("p"))
    val rows =
      (0 until 600).map(i => InternalRow(i.toLong, i * 7919 % 101, i * 104729L % 997, i % 300))
    table.append(rows.filter(_.getLong(0) < 300))
    table.append(rows.filter(_.getLong(0) >= 300))
    val before = table.rows
    val task = taskOf(
      table,
      planning(settings)(_.copy(targetFileBytes = 100 * MemoryFile.RowBytes)),
      Seq("curve" -> "linear"))
    val (result, jobs) = SparkEvents.jobsOf(session.sparkContext)(run(task))
    assert(table.rows == before)
    assert(result.outcomes.size == 300)
    // 200 cubes at most are one commit.
    assert(table.now.commits.size == 2 + 2)
    assert(jobs.count(_.contains("writing")) == 2)
    assert(table.now.live.size == 300)
    assert(table.now.live.map(_.cube.get._1).distinct.size == 300)
    assert(table.now.live.forall(_.rowCount == 2))
    table.now.live.foreach(file =>
      assert(file.rowsIn(table.store).forall(MemoryFile.partitionOf(table, _) == file.partition)))
    // With this curve, rows are in the order of the first column.
    val first = table.now.live.map(_.rowsIn(table.store).map(_.getInt(1)))
    assert(first.forall(xs => xs == xs.sorted))
    assert(first.exists(_.distinct.size == 2))
  }

  private def tableOfAppends(rows: Int*): MemoryTable = {
    val table = new MemoryTable("t", schema, Nil, Seq("x", "y"))
    rows.foreach(count => table.append((0L until count.toLong).map(row)))
    table
  }

  test("reading the log has the tag by which a run's jobs are cancelled, and a commit hasn't") {
    val table = tableOfAppends(40)
    val tags = new ConcurrentHashMap[String, Set[String]]
    table.onStep = step => tags.put(step, session.sparkContext.getJobTags()): Unit
    assert(run(taskOf(table)).committed.size == 1)
    def isTagged(step: String) = tags.get(step).exists(_.startsWith("zcube-"))
    assert(isTagged("prepare") && !isTagged("commit"))
  }

  test(
    "where quality can't be measured, the log is asked once for all groups, and the run goes on") {
    val table = tableOfAppends(30, 30, 30, 30, 30, 30)
    val asked = new AtomicInteger
    table.onStep = what =>
      if (what == "statistics") {
        asked.incrementAndGet()
        throw new IllegalStateException("too many")
      }
    val done = run(taskOf(table, smallCubes)).committed
    assert(done.size > 3 && done.forall(_.metrics.before.isEmpty))
    assert(asked.get == 1)
  }

  test("times of groups that share jobs add up") {
    val whole = RewriteMetrics(1000, 77, Some(3))
    val parts = whole.among(Seq(1L, 0L, 500L, 7L))
    assert(parts.size == 4)
    assert(parts.map(_.samplingMs).sum == 1000 && parts.map(_.writingMs).sum == 77)
    assert(parts.flatMap(_.cpuMs).sum == 3)
    assert(parts(2).samplingMs > 900 && parts.forall(_.samplingMs >= 0))
    assert(RewriteMetrics(5, 6, None).among(Seq(3L, 4L)).forall(_.cpuMs.isEmpty))
  }

  test("with few rows, the row limit per file decides the number of files") {
    for {
      kind <- LayoutKind.all
      (rows, most, files) <- Seq((4, 2, 2), (9, 3, 3), (10, 3, 4), (12, 4, 3), (7, 1, 7), (5, 5, 1))
    } {
      val table = new MemoryTable("t", schema)
      table.append((0 until rows).map(i => InternalRow(i.toLong, i * 7, i * 5L % 11, 0)))
      val before = table.rows
      run(taskOf(
        table,
        planning(settings)(_.copy(maxRecords = most.toLong)),
        Seq("curve" -> kind.name)))
      assert(table.rows == before)
      assert(table.now.live.forall(_.rowCount <= most), kind.name)
      assert(table.now.live.size == files, s"$rows rows, $most a file, ${kind.name}")
    }
  }

  test("rows of a file are closer to each other than before") {
    val table = new MemoryTable("t", schema)
    (0L until 400L by 40L).foreach(start => table.append((start until start + 40).map(row)))
    run(taskOf(table))
    // 40 files of a grid of 101 by 997: along the curve each has a small part of either range.
    val widths = table.now.live.map { file =>
      file.bounds("x").minMax.get match {
        case (low: Int, high: Int) => high - low
        case other => fail(s"$other")
      }
    }
    assert((30 to 50).contains(widths.size), widths.size)
    assert(widths.sum / widths.size < 101 / 3, widths)
  }

  test("WHERE leaves other partitions alone") {
    val table = new MemoryTable("t", schema, Seq("p"))
    table.append((0L until 100L).map(row))
    val before = table.now.files.values.filter(_.partition == Map("p" -> "0")).toSet
    val filter = EqualTo(AttributeReference("p", IntegerType)(), Literal(1))
    run(taskOf(table, where = WhereClause(Seq(filter), Seq(filter))))
    assert(before.forall(table.now.live.contains))
    assert(table.now.live.filterNot(before).forall(f =>
      f.cube.isDefined && f.partition("p") == "1"))
  }

  test("details distinguish a NULL partition from the string NULL") {
    val table = new MemoryTable("t", schema, Seq("p"))
    table.append((0L until 20L).map(row))
    val task = taskOf(table, options = Seq("details" -> "true"))
    val done = run(task)
    val nulls = done.plan.groups.map { group =>
      val files = group.planned.files.map(file =>
        file.copy(file = file.file.copy(partition = Map("p" -> null))))
      group.copy(planned = PlannedGroup(files, group.planned.sizes)(new Extents(Nil)))
    }
    val left = done.copy(outcomes = nulls.map(GroupOutcome.NotStarted))
    val text = RunDetails.json(left, WorkloadReport.of(task))
    assert(text.contains("\"partition\":{\"p\":null}"), text)
  }

  test("FULL rewrites what is in order") {
    val table = new MemoryTable("t", schema, declared = Seq("x", "y"))
    table.append((0L until 100L).map(row))
    run(taskOf(table))
    val once = table.now.files.keySet
    val rows = table.rows
    // With another curve, so that there is something to do.
    run(taskOf(table, options = Seq("curve" -> "zorder"), isFull = true))
    assert(table.now.files.keySet.intersect(once).isEmpty)
    assert(table.rows == rows)
  }

  test("no cube starts when time is up") {
    val table = new MemoryTable("t", schema)
    table.append((0L until 100L).map(row))
    val task = taskOf(table)
    val result = run(task.copy(options = task.options.copy(maxDuration = Some(0L))))
    assert(result.outcomes.nonEmpty)
    assert(result.outcomes.forall(_.isInstanceOf[GroupOutcome.NotStarted]))
    assert(table.now.commits.size == 1)
  }

  /** By a clock that is later each time that it is asked: for a commit, and for each of its jobs. */
  private def runUntil(time: Long, task: OptimizeTask): RunResult = {
    val asked = new AtomicLong
    val timed = task.copy(options = task.options.copy(maxDuration = Some(time)))
    val clone = LayoutSession.cloneOf(session, task.version)
    Sessions.within(session)(
      new OptimizeRunner(clone, timed, clock = new RunClock(() => asked.getAndIncrement())).run())
  }

  test("of a commit's jobs, those that haven't started when time is up are left") {
    // Five partitions of two files, which are a job each.
    val table = new MemoryTable("t", schema, Seq("p"))
    (0L until 100L).map { id =>
      val of = row(id)
      of.setInt(3, (id / 20).toInt)
      of
    }.grouped(10).foreach(table.append)
    val before = table.rows
    def task(batch: Option[Long] = None) =
      taskOf(table, settings.copy(maxThreads = 1, batchBytes = batch), isFull = true)
    def left(result: RunResult) = result.outcomes.count(_.isInstanceOf[GroupOutcome.NotStarted])
    val none = runUntil(2, task())
    assert(left(none) == none.plan.groups.size && table.now.commits.size == 10)
    val some = runUntil(4, task())
    assert(some.committed.size == 2 && left(some) == none.plan.groups.size - 2)
    assert(left(some) > 0 && table.now.commits.size == 11)
    assert(table.rows == before && table.orphans.isEmpty)
    // A batch of the user's size is committed as a whole.
    val all = runUntil(2, task(batch = Some(1L << 30)))
    assert(left(all) == 0 && all.committed.nonEmpty && table.now.commits.size == 12)
    assert(table.rows == before)
  }

  test("a sample with a different row count than the log is an error, and changes nothing") {
    val table = new MemoryTable("t", schema)
    table.append((0L until 50L).map(row))
    val task = taskOf(table)
    // A reader that omits rows, as an extension's row filter would.
    val path = table.now.live.head.path
    table.store.put(path, table.store.rowsOf(path).drop(3))
    val before = table.now.files
    val error = intercept[Exception](run(task))
    assert(error.getMessage.contains("47") && error.getMessage.contains("50"), error)
    assert(table.now.files == before && table.orphans.isEmpty)
  }
}
