package io.zcube.clustering.run

import java.io.IOException
import java.util.ConcurrentModificationException

import scala.util.Random

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.caseSensitiveResolution
import org.json4s.jackson.JsonMethods
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.clustering.memory.{MemoryEngine, MemoryFile, MemoryTable, StoreFaults}
import io.zcube.clustering.plan.{OptimizeSettings, RewriteGroup, RewritePlan, SecondPass}
import io.zcube.clustering.report.{RunDetails, WorkloadReport}
import io.zcube.planning.Regrouping

/** Jobs that overlap, and what regroups their cubes. Whether boxes overlap is counted from the rows.
  */
class OptimizePassesSuite extends AnyFunSuite with MemoryEngine {

  /** Jobs of 100 of 800 rows, which make files of 4 rows and cubes of 50. */
  private val smallJobs: OptimizeSettings = planning(settings)(_.copy(
    targetFileBytes = 4 * MemoryFile.RowBytes,
    minCubeBytes = 50 * MemoryFile.RowBytes,
    targetCubeBytes = 50 * MemoryFile.RowBytes,
    maxJobBytes = 200 * MemoryFile.RowBytes
  ))

  private val rows = 800L

  /** In no order: each file covers everything. */
  private def newTable(declared: Boolean = true, partitioned: Boolean = false): MemoryTable = {
    val table = new MemoryTable(
      "t",
      schema,
      if (partitioned) Seq("p") else Nil,
      if (declared) Seq("x", "y") else Nil)
    val random = new Random(41)
    (0L until rows)
      .map(id => InternalRow(id, random.nextInt(10000), random.nextInt(10000).toLong, 0))
      .grouped(10).foreach(table.append)
    table
  }

  /** How many files contain a point, on average over the rows. */
  private def depth(table: MemoryTable): Double = {
    val boxes = table.now.live.map { file =>
      val in = file.rowsIn(table.store)
      (in.map(_.getInt(1)), in.map(_.getLong(2)))
    }
    val points = table.now.live.flatMap(_.rowsIn(table.store))
    points.map { row =>
      val (x, y) = (row.getInt(1), row.getLong(2))
      boxes.count { case (xs, ys) => xs.min <= x && x <= xs.max && ys.min <= y && y <= ys.max }
    }.sum.toDouble / points.size
  }

  private def overlapping(table: MemoryTable): Int = table.now.live.count(_.overlapping.isDefined)

  private val byOneJob = planning(smallJobs)(_.copy(maxJobBytes = settings.plan.maxJobBytes))

  for (declared <- Seq(true, false); isFull <- Seq(true, false))
    test(s"jobs that overlap are regrouped at once; clustered $declared, FULL $isFull") {
      val (one, several) = (newTable(declared), newTable(declared))
      val before = several.rows
      runPasses(taskOf(one, byOneJob, isFull = isFull)): Unit
      val result = runPasses(taskOf(several, smallJobs, isFull = isFull))
      assert(several.rows == before)
      assert(several.orphans.isEmpty)
      // Each row was written twice.
      assert(result.committed.flatMap(_.removed).flatMap(_.rows).sum == 2 * rows)
      assert(result.plan.groups.forall(_.planned.overlapping))
      assert(result.committed.forall(_.group.storedBytes <= 1.1 * smallJobs.plan.maxJobBytes))
      assert(overlapping(several) == 0)
      assert(depth(one) < 1.2)
      // A runner without a second pass leaves what queries have to read several times.
      val divided = newTable(declared)
      run(taskOf(divided, smallJobs, isFull = isFull)): Unit
      assert(overlapping(divided) == divided.now.live.size)
      assert(depth(several) < 1 + (depth(divided) - 1) / 4)
      assert(run(taskOf(several, smallJobs)).outcomes.isEmpty)
    }

  test("whatever fails in either pass, no row is lost, and the next run regroups the rest") {
    val counted = newTable()
    counted.store.faults.count()
    runPasses(taskOf(counted, smallJobs)): Unit
    val operations = counted.store.faults.disarm()._1.size
    val step = if (Night.all) 23 else 617
    var regrouped = 0
    var deepest = 1.0
    for (kind <- StoreFaults.kinds;
      number <- StoreFaults.kinds.indexOf(kind) until operations by step) {
      val table = newTable()
      val before = table.rows
      table.store.faults.arm(number, kind)
      try runPasses(taskOf(table, smallJobs)): Unit
      catch { case _: Throwable => }
      Thread.interrupted(): Unit
      table.store.faults.disarm(): Unit
      assert(table.rows == before, (kind, number))
      val fresh = table.now.live.count(_.cube.isEmpty)
      val left = overlapping(table)
      val runs = Iterator.continually(runPasses(taskOf(table, smallJobs)).committed.size)
        .takeWhile(_ > 0).take(9).toSeq
      assert(table.rows == before, (kind, number))
      // What is left of cubes is small, and is merged like other small cubes.
      assert(runs.size < 3 && overlapping(table) < 10, (kind, number, fresh, left, runs))
      deepest = math.max(deepest, depth(table))
      if (fresh == 0 && left > 0) regrouped += 1
    }
    info(s"$deepest files at a point, ${depth(counted)} without failures")
    // A run that ends after a region draws the others' borders anew, as well as one job draws them.
    assert(deepest < 1.2)
    assert(regrouped > 0)
  }

  test("auto compaction leaves what overlaps, and so does a run with less than a region") {
    val table = newTable()
    run(taskOf(table, smallJobs)): Unit
    assert(RewritePlan.of(taskOf(table, smallJobs).copy(isAuto = true)).groups.isEmpty)
    def bounded(bytes: Long) = taskOf(table, smallJobs, Seq("maxBytes" -> bytes.toString))
    assert(RewritePlan.of(bounded(20 * MemoryFile.RowBytes)).groups.isEmpty)
    val some = run(bounded(450 * MemoryFile.RowBytes))
    assert(some.committed.map(_.group.storedBytes).sum <= 450 * MemoryFile.RowBytes)
    assert(some.committed.nonEmpty)
    assert(overlapping(table) > 0)
  }

  test("without regrouping, what overlaps stays, until a run with it") {
    val table = newTable()
    val without = planning(smallJobs)(_.copy(regrouping = Regrouping.Never))
    val before = table.rows
    val divided = runPasses(taskOf(table, without))
    assert(divided.committed.map(_.removed.flatMap(_.rows).sum).sum == rows)
    assert(overlapping(table) == table.now.live.size)
    for (isFull <- Seq(false, true)) {
      val again = taskOf(table, without, isFull = isFull)
      assert(SecondPass.planOf(again).groups.isEmpty)
      assert(SecondPass.unplannedBytes(again, SecondPass.planOf(again)) == 0)
      assert(runPasses(again).outcomes.isEmpty)
    }
    runPasses(taskOf(table, smallJobs)): Unit
    assert(overlapping(table) == 0)
    assert(table.rows == before)
  }

  test("the second pass has what limits of bytes and time leave; else the next run does it") {
    val plenty = newTable()
    runPasses(taskOf(plenty, smallJobs, Seq("maxBytes" -> "1g"))): Unit
    assert(overlapping(plenty) == 0)
    val table = newTable()
    val limited = taskOf(table, smallJobs, Seq("maxBytes" -> s"${rows * MemoryFile.RowBytes}"))
    val divided = runPasses(limited)
    assert(divided.committed.size == 4)
    assert(overlapping(table) == table.now.live.size)
    def kept(result: RunResult) =
      (JsonMethods.parse(RunDetails.json(result, WorkloadReport.of(limited))) \ "kept").values
    val reason = "overlaps since jobs were too small"
    assert(kept(divided) == Map(reason -> table.now.live.size))
    assert(kept(runPasses(taskOf(plenty, smallJobs))) != kept(divided))
    val late = limited.copy(options = limited.options.copy(maxBytes = None, maxDuration = Some(0L)))
    assert(runPasses(late.copy(version = table.latest())).committed.isEmpty)
    assert(overlapping(table) == table.now.live.size)
    val again = taskOf(table, smallJobs)
    val planned = SecondPass.planOf(again)
    val result = runPasses(again)
    assert(planned.groups.map(_.files.map(_.path)) == result.committed.map(_.removed.map(_.path)))
    assert(planned.kept.isEmpty && result.plan.kept.isEmpty)
    assert(overlapping(table) == 0)
  }

  test("the second pass waits until all is clustered anew, also if it was in another way") {
    val table = newTable()
    val id = table.latest().column(Seq("id"), caseSensitiveResolution).toSeq
    runPasses(taskOf(table, byOneJob).copy(columns = id)): Unit
    def night() = runPasses(
      taskOf(
        table,
        smallJobs,
        Seq("maxBytes" -> s"${390 * MemoryFile.RowBytes}"),
        isFull = true))
    for (job <- 1 to 3) {
      assert(night().committed.map(_.group.planned.overlapping) == Seq(true))
      assert(
        table.now.live.filter(_.overlapping.isDefined).flatMap(_.overlapping).toSet.size == job)
    }
    Iterator.continually(night().committed.size).takeWhile(_ > 0).take(9).foreach(_ => ())
    assert(overlapping(table) < table.now.live.size / 4)
    assert(table.rows == newTable().rows)
  }

  /** A listener that changes the table when a pass is planned, or after a commit, counted from 1. */
  private def changing(plan: Int = 0, commit: Int = 0)(change: => Unit): RunListener =
    new RunListener {
      private var plans, commits = 0
      override def planned(planned: RewritePlan): Unit = {
        plans += 1
        if (plans == plan) change
      }
      override def committed(results: Seq[RewriteResult]): Unit = {
        commits += 1
        if (commits == commit) change
      }
      override def dropped(groups: Seq[RewriteGroup]): Unit = ()
    }

  /** Of two partitions: the first is divided, and waits to be regrouped; the second has new files. */
  private def partitioned(files: Int, rowsOfFile: Int): MemoryTable = {
    val table = newTable(declared = false, partitioned = true)
    run(taskOf(table, smallJobs)): Unit
    (0 until files).foreach { i =>
      table.append(
        (0 until rowsOfFile).map(k => InternalRow(rows + rowsOfFile * i + k, k, 1L, 1)))
    }
    assert(overlapping(table) == table.now.live.size - files)
    table
  }

  test("a file elsewhere that is larger than the budget doesn't keep the second pass waiting") {
    val table = partitioned(files = 1, rowsOfFile = 300)
    val marked = overlapping(table)
    val result = runPasses(
      taskOf(table, smallJobs, Seq("maxBytes" -> s"${250 * MemoryFile.RowBytes}")))
    assert(result.committed.map(_.group.storedBytes).sum <= 250 * MemoryFile.RowBytes)
    assert(overlapping(table) < marked)
    assert(table.now.live.count(_.cube.isEmpty) == 1)
  }

  test("a partition that waits for the rest of it doesn't keep others waiting") {
    val table = newTable(declared = false, partitioned = true)
    val second = newTable()
    second.now.live.foreach(file =>
      table.append(file.rowsIn(second.store).map { row =>
        InternalRow(rows + row.getLong(0), row.getInt(1), row.getLong(2), 1)
      }))
    run(taskOf(table, smallJobs)): Unit
    table.append((0 until 700).map(k => InternalRow(2 * rows + k, k, 1L, 1)))
    def marked(p: Int) =
      table.now.live.count(f => f.overlapping.isDefined && f.partition("p") == s"$p")
    val before = marked(1)
    assert(marked(0) > 0 && before > 0)
    for (_ <- 1 to 3)
      runPasses(taskOf(table, smallJobs, Seq("maxBytes" -> s"${600 * MemoryFile.RowBytes}"))): Unit
    assert((marked(0), marked(1)) == (0, before))
  }

  test("what a conflict drops counts for the budget") {
    val table = partitioned(files = 10, rowsOfFile = 10)
    val result = runPasses(
      taskOf(table, smallJobs, Seq("maxBytes" -> s"${300 * MemoryFile.RowBytes}")),
      changing(plan = 1)(table.delete(row => row.getInt(3) == 1 && row.getLong(0) % 10 == 0)))
    assert(result.conflicts.size == 1 && result.committed.nonEmpty)
    assert(result.outcomes.map(_.group.liveBytes).sum <= 300 * MemoryFile.RowBytes)
  }

  test("a conflict elsewhere doesn't keep the second pass waiting") {
    val table = partitioned(files = 10, rowsOfFile = 10)
    val result = runPasses(
      taskOf(table, smallJobs),
      changing(plan = 1)(table.delete(row => row.getInt(3) == 1 && row.getLong(0) % 10 == 0)))
    assert(result.outcomes.count(_.isInstanceOf[GroupOutcome.Dropped]) == 1)
    assert(overlapping(table) == 0)
    assert(table.rows.values.sum == rows + 90)
    assert(table.now.live.count(_.cube.isEmpty) == 10)
  }

  test("conflicts are raised if nothing came of either pass, and no more than that") {
    val table = newTable()
    run(taskOf(table, smallJobs)): Unit
    val before = table.now.commits.size
    intercept[ConcurrentModificationException](
      runPasses(
        taskOf(table, smallJobs),
        changing(plan = 2)(table.delete(row => row.getLong(0) % 2 == 0))))
    assert(table.now.commits.size == before + 1)
    assert(table.orphans.isEmpty && table.rows.values.sum == rows / 2)
  }

  test("a failure between the passes, or in the second, says what is committed") {

    /** Fails one operation after the first pass, which has four commits. */
    def failing(
        number: Int,
        kind: StoreFaults.Kind): (MemoryTable, Option[Throwable], Seq[String]) = {
      val table = newTable()
      val error =
        try {
          runPasses(
            taskOf(table, smallJobs.copy(maxThreads = 1)),
            changing(commit = 4)(table.store.faults.arm(number, kind)))
          None
        } catch { case e: Throwable => Some(e) }
      Thread.interrupted(): Unit
      (table, error, table.store.faults.disarm()._1)
    }
    val operations = failing(Int.MaxValue, StoreFaults.Before)._3
    val (put, commit) = (operations.indexOf("put"), operations.indexOf("append"))
    assert(put > 0 && commit > put)
    val kinds =
      if (Night.all) StoreFaults.kinds
      else Seq(StoreFaults.Before, StoreFaults.Unseen, StoreFaults.Interrupted)
    val seen = for {
      kind <- kinds
      number <- Seq(0, put, commit)
      (table, Some(error), _) <- Seq(failing(number, kind))
    } yield {
      val said = error match {
        case e: SparkThrowable => e.getCondition
        case e => e.getClass.getSimpleName
      }
      assert(table.rows == newTable().rows)
      assert(table.now.live.forall(_.cube.isDefined))
      if (said == "ZCUBE_REGROUP_FAILED") {
        assert(error.getCause != null && error.getMessage.contains(" stays. The second"))
        // It is only said of what didn't happen.
        assert(table.now.commits.size == newTable().now.commits.size + 4)
      }
      runPasses(taskOf(table, smallJobs)): Unit
      assert(overlapping(table) < 10)
      (kind, number) -> said
    }
    info(seen.toString)
    def of(kind: StoreFaults.Kind, number: Int) = seen.toMap.apply((kind, number))
    for (number <- Seq(0, put))
      assert(of(StoreFaults.Before, number) == "ZCUBE_REGROUP_FAILED")
    // A commit that may have happened, which is all that matters then.
    for (kind <- Seq(StoreFaults.Before, StoreFaults.Unseen))
      assert(of(kind, commit) == "IOException")
    assert(seen.filter(_._1._1 == StoreFaults.Interrupted).forall(_._2.startsWith("Interrupted")))
    assert(seen.filter(_._1._1 == StoreFaults.Fatal).forall(_._2 == "NoClassDefFoundError"))
  }

  test("a conflict of the first pass isn't lost if the second fails") {
    val table = partitioned(files = 10, rowsOfFile = 10)
    val conflict = intercept[ConcurrentModificationException](
      runPasses(
        taskOf(table, smallJobs),
        changing(plan = 1)(table.delete(row => row.getInt(3) == 1 && row.getLong(0) % 10 == 0)),
        changing(plan = 2)(table.store.faults.arm(0, StoreFaults.Before))
      ))
    table.store.faults.disarm(): Unit
    assert(conflict.getSuppressed.exists(_.isInstanceOf[IOException]))
  }

  for (batch <- Seq(None, Some(250 * MemoryFile.RowBytes)); tells <- Seq(true, false))
    test(s"what is known to be lost isn't written; batches of $batch, known: $tells") {
      val table = newTable(declared = false, partitioned = true)
      table.append((0 until 400).map(k => InternalRow(rows + k, k, 1L, 1)))
      table.tellsConflicts = tells
      // Large enough for commits of their own.
      val settings = smallJobs.copy(maxThreads = 1, batchBytes = batch)
      table.store.faults.count()
      val result = run(
        taskOf(table, settings),
        changing(plan = 1)(table.delete(row => row.getInt(3) == 1 && row.getLong(0) % 10 == 0)))
      val puts = table.store.faults.disarm()._1.count(_ == "put")
      val lost = result.conflicts.size
      assert(lost > 0 && table.orphans.isEmpty)
      assert(table.rows.values.sum == rows + 360)
      val written = result.committed.flatMap(_.added).size
      if (tells) assert(puts == written) else assert(puts > written)
    }

  test("files in two groups are refused") {
    val table = newTable()
    val task = taskOf(table, smallJobs)
    val planned = RewritePlan.of(task)
    val twice = planned.copy(groups = planned.groups :+ planned.groups.head)
    assert(intercept[SparkThrowable](OptimizeRunner.checkDisjoint(twice)).getCondition ==
      "ZCUBE_INTERNAL_ERROR")
    OptimizeRunner.checkDisjoint(planned)
  }

  test("what another writer changes between the passes stays out of the second") {
    for (change <- Seq(
        (_: MemoryTable).append(Seq(InternalRow(rows, 1, 1L, 0))),
        (_: MemoryTable).delete(_.getLong(0) % 7 == 0))) {
      val table = newTable()
      var expected = table.rows
      var commits = 0
      // The first commit of the second pass: later ones conflict.
      val meanwhile = changing(commit = 5) {
        change(table)
        expected = table.rows
        commits = 5
      }
      val result = runPasses(taskOf(table, smallJobs.copy(maxThreads = 1)), meanwhile)
      assert(commits == 5)
      assert(table.rows == expected)
      assert(result.committed.size >= 5)
    }
  }
}
