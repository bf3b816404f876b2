package io.zcube.clustering.run

import java.util.ConcurrentModificationException

import scala.collection.mutable
import scala.util.{Failure, Success}

import org.apache.spark.sql.catalyst.InternalRow
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.clustering.memory.StoreFaults._
import io.zcube.clustering.memory.{MemoryEngine, MemoryFile, MemoryTable}
import io.zcube.clustering.plan.{OptimizeSettings, RewriteGroup, RewritePlan}
import io.zcube.concurrent.Caught
import io.zcube.sql.metrics.OptimizeTotals

/** Every operation of a run fails, and every commit encounters another writer's.
  *
  * Each operation fails in one of the six ways, a commit and the listing of the log in two, in
  * rotation, so that each kind of operation fails in each way in some case. `ZCUBE_TESTS=all`: each
  * operation of each case in each way, at each time.
  */
class FaultsSuite extends AnyFunSuite with MemoryEngine {

  private val rowCount = 90L

  private val all = Night.all

  /** How often each kind of operation has had its turn. */
  private val turns = mutable.Map.empty[String, Int].withDefaultValue(0)

  /** The ways in which this operation fails. */
  private def waysOf(operation: String): Seq[Kind] =
    if (all) kinds
    else {
      val turn = turns(operation)
      turns(operation) += 1
      val both = operation == "append" || operation == "list"
      (if (both) Seq(0, 3) else Seq(0)).map(k => kinds((turn + k) % kinds.size))
    }

  /** What failed, in which way. */
  private val failures = mutable.Set.empty[(String, Kind)]

  /** The operations of a run in which nothing fails. */
  private def operationsOf(kind: TableKind, settings: OptimizeSettings): Seq[String] = {
    val table = newTable(kind)
    table.store.faults.count()
    run(taskOf(table, settings)): Unit
    table.store.faults.disarm()._1
  }

  /** The cases begin at different operations, so that together they meet more than one in seven. */
  private val Step = 7

  /** Numbers of operations, from `first` on: one in each step, or all and some after the last. */
  private def times(first: Int, operations: Int): Range =
    if (all) first until operations + 2 else first until operations by Step

  /** The table of a case. */
  private case class TableKind(declared: Boolean, partitioned: Boolean = false)

  private def newTable(kind: TableKind): MemoryTable = {
    val table = new MemoryTable(
      "t",
      schema,
      if (kind.partitioned) Seq("p") else Nil,
      if (kind.declared) Seq("x", "y") else Nil)
    (0L until rowCount by 30L).foreach(start => table.append((start until start + 30).map(row)))
    table.delete(_.getLong(0) % 17 == 3)
    table
  }

  /** Files of 100 rows: each partition fills one. */
  private val largeFiles: OptimizeSettings =
    planning(settings)(_.copy(targetFileBytes = 100 * MemoryFile.RowBytes))

  private val partitioned = TableKind(declared = false, partitioned = true)

  private val cases: Seq[(String, TableKind, OptimizeSettings)] = Seq(
    ("one cube", TableKind(declared = true), settings),
    ("three cubes at once", TableKind(declared = true), smallCubes),
    ("three cubes, ZORDER BY", TableKind(declared = false), smallCubes),
    ("three cubes by one job", TableKind(declared = true), severalByAJob),
    (
      "three cubes in one commit",
      TableKind(declared = true),
      smallCubes.copy(batchBytes = Some(1L << 30))),
    ("two partitions by one job and one commit", partitioned, largeFiles),
    ("two partitions in one commit", partitioned, settings),
    (
      "two partitions, a commit each",
      partitioned,
      planning(largeFiles)(_.copy(minCubeBytes = 30 * MemoryFile.RowBytes)))
  )

  /** The cases in which everything has failed. */
  private val ran = mutable.Set.empty[String]

  for ((name, declared, settings) <- cases)
    test(s"$name: whatever fails, rows stay, and orphaned files are removed") {
      var points, unknown = 0
      val operations = operationsOf(declared, settings)
      assert(operations.size > 6)
      val ways = operations.map(waysOf)
      for ((kinds, number) <- ways.zipWithIndex; kind <- kinds) {
        val table = newTable(declared)
        val before = table.rows
        table.store.faults.arm(number, kind)
        val result = Caught(run(taskOf(table, settings)))
        Thread.interrupted(): Unit
        val (_, met) = table.store.faults.disarm()
        val point = s"$number: $met, $kind: $result"
        met.foreach { operation =>
          points += 1
          failures += operation -> kind
        }
        assert(table.rows == before, point)
        assert(table.now.live.forall(f => table.store.paths(f.path)), point)
        // It can't be known whether a missing version will still appear, nor, without the log, what
        // another cube of the run may have committed just then.
        val mayCome = met.contains("list") ||
          met.contains("append") && (kind == Before || kind == Interrupted) ||
          !met.contains("append") && table.store.faults.wasBlind
        if (mayCome) unknown += 1 else assert(table.orphans.isEmpty, point)
        if (met.contains("append") && kind == Unseen) unknown += 1
        result match {
          case Success(done) =>
            // Only the response was lost.
            assert(met.isEmpty || met.contains("append"), point)
            assert(done.outcomes.forall(_.isInstanceOf[GroupOutcome.Committed]), point)
            done.outcomes.foreach {
              case GroupOutcome.Committed(rewritten, version, _) =>
                val paths = table.store.history(version.toInt).added.map(_.path).toSet
                assert(rewritten.added.forall(file => paths(file.path)), point)
              case _ =>
            }
            assert(table.now.live.forall(_.cube.isDefined), point)
          case Failure(_) => assert(met.isDefined, point)
        }
        // The next run does the rest.
        run(taskOf(table, settings)): Unit
        assert(table.rows == before, point)
        assert(table.now.live.forall(_.cube.isDefined), point)
      }
      info(s"$points points, $unknown of them with an unknown outcome")
      assert(points >= ways.map(_.size).sum)
      ran += name
    }

  test("each kind of operation has failed in each way") {
    assume(ran.size == cases.size, "some cases were left out")
    for (operation <- Seq("list", "read", "put", "append"); kind <- kinds)
      assert(failures(operation -> kind), s"$operation, $kind")
  }

  test("a file that can't be removed is left, and the first failure is reported") {
    for {
      (name, declared, settings) <- cases
      number <- 1 until math.min(20, operationsOf(declared, settings).size) by (if (all) 2 else 5)
    } {
      val table = newTable(declared)
      val before = table.rows
      table.store.faults.arm(number, Before)
      table.store.faults.keepsFiles = true
      val result = Caught(run(taskOf(table, settings)))
      table.store.faults.keepsFiles = false
      val (_, met) = table.store.faults.disarm()
      assert(table.rows == before, s"$name, $number: $result")
      result.failed.foreach { e =>
        val told = e +: e.getSuppressed.toSeq
        assert(met.exists(name => told.exists(_.getMessage.contains(s"$name fails"))), s"$e")
      }
      assert(table.now.live.forall(f => table.store.paths(f.path)))
    }
  }

  test("rows appended concurrently stay, and the run succeeds") {
    val operations = mutable.Map.empty[String, Int].withDefaultValue(0)
    for {
      ((name, declared, settings), place) <- cases.zipWithIndex
      number <- times(place % Step, operationsOf(declared, settings).size)
    } {
      val table = newTable(declared)
      val before = table.rows
      val more = (1000L until 1005L).map(row)
      table.store.faults.arm(number, Meanwhile(() => table.append(more)))
      val result = run(taskOf(table, settings))
      val (_, met) = table.store.faults.disarm()
      assert(result.outcomes.forall(_.isInstanceOf[GroupOutcome.Committed]), s"$name, $met")
      val added = if (met.isDefined) 5 else 0
      assert(table.rows.values.sum == before.values.sum + added, s"$name, $number, $met")
      assert(before.forall { case (row, n) => table.rows(row) == n })
      assert(table.orphans.isEmpty)
      met.foreach(operations(_) += 1)
    }
    // Before commits, and at other times.
    assert(operations("append") > 0 && operations("put") > 0 && operations("read") > 0)
    assert(!all || operations("append") >= cases.size)
  }

  /** All in the first file, and in one partition. */
  private def isLost(row: InternalRow): Boolean = row.getLong(0) < 5 && row.getLong(0) % 2 == 0

  test("rows deleted concurrently stay deleted: only their cube is dropped") {
    var dropped, failed = 0
    for {
      ((name, declared, settings), place) <- cases.zipWithIndex
      number <- times(place % Step, operationsOf(declared, settings).size)
    } {
      val table = newTable(declared)
      table.store.faults.arm(number, Meanwhile(() => table.delete(isLost)))
      val task = taskOf(table, settings)
      val result = Caught(run(task))
      val (_, met) = table.store.faults.disarm()
      val point = s"$name, $number, $met: $result"
      val wanted = if (met.isDefined) table.now.live.flatMap(_.rowsIn(table.store)) else Nil
      assert(!wanted.exists(isLost), point)
      assert(table.rows.values.sum == (if (met.isDefined) 81 else 84), point)
      assert(table.orphans.isEmpty, point)
      result match {
        case Success(run) =>
          dropped += run.outcomes.count(_.isInstanceOf[GroupOutcome.Dropped])
          assert(run.outcomes.exists(_.isInstanceOf[GroupOutcome.Committed]), point)
        case Failure(e) =>
          failed += 1
          assert(e.isInstanceOf[ConcurrentModificationException], point)
          // There was one job, or the user requested one commit.
          val isOneJob = name == "one cube" || name == "three cubes by one job"
          assert(isOneJob || settings.batchBytes.isDefined, point)
      }
    }
    assert(dropped > 0 && failed > 0)
  }

  test(
    "whatever fails after a conflict with some cubes of a commit, no row is lost or comes back") {
    var points, landed = 0
    for ((name, kind, settings) <- cases if name.startsWith("two") && name.contains("one commit")) {
      val operations = operationsOf(kind, settings)
      assert(operations.count(_ == "append") == 1, name)
      for {
        number <- 0 until 12
        fault <- if (all) kinds else Seq(0, 3).map(k => kinds((number + k) % kinds.size))
      } {
        val table = newTable(kind)
        table.store.faults.arm(
          operations.indexOf("append"),
          Meanwhile { () =>
            table.delete(isLost)
            table.store.faults.arm(number, fault)
          })
        val result = Caught(run(taskOf(table, settings)))
        Thread.interrupted(): Unit
        val (_, met) = table.store.faults.disarm()
        val point = s"$name, $number: $met, $fault: $result"
        val rows = table.now.live.flatMap(_.rowsIn(table.store)).map(_.getLong(0)).sorted
        assert(
          rows == (0L until rowCount).filter(id => id % 17 != 3 && !(id < 5 && id % 2 == 0)),
          point)
        assert(table.now.live.forall(f => table.store.paths(f.path)), point)
        val mayCome = met.contains("list") ||
          met.contains("append") && (fault == Before || fault == Interrupted) ||
          // Files that can't be removed stay.
          met.contains("delete")
        if (!mayCome) assert(table.orphans.isEmpty, point)
        met.foreach(_ => points += 1)
        result.foreach { done =>
          assert(done.outcomes.count(_.isInstanceOf[GroupOutcome.Dropped]) == 1, point)
          assert(done.outcomes.exists(_.isInstanceOf[GroupOutcome.Committed]), point)
          landed += 1
        }
      }
    }
    info(s"$points points, $landed runs went through")
    assert(points > (if (all) 30 else 12) && landed > (if (all) 10 else 4))
  }

  test("listeners are told what is in the log and what was dropped, and can't make a run fail") {
    for (isBroken <- Seq(false, true)) {
      val table = newTable(TableKind(declared = true))
      val told = mutable.Map.empty[String, Int].withDefaultValue(0)
      val listener = new RunListener {
        private def note(what: String, count: Int): Unit = told.synchronized {
          told(what) += count
          if (isBroken) throw new IllegalStateException(what)
        }
        override def planned(plan: RewritePlan): Unit = {
          table.delete(isLost)
          note("planned", plan.groups.size)
        }
        override def committed(results: Seq[RewriteResult]): Unit = {
          val inLog = table.store.history.flatMap(_.added).map(_.path).toSet
          assert(results.forall(_.added.forall(file => inLog(file.path))))
          note("committed", results.size)
        }
        override def dropped(groups: Seq[RewriteGroup]): Unit = note("dropped", groups.size)
      }
      val totals = OptimizeTotals.droppedCubes.sum
      val outcomes = run(taskOf(table, smallCubes), listener).outcomes
      assert(OptimizeTotals.activeRuns.get == 0)
      assert(told.toMap == Map("planned" -> 3, "committed" -> 2, "dropped" -> 1))
      assert(outcomes.count(_.isInstanceOf[GroupOutcome.Dropped]) == 1)
      assert(OptimizeTotals.droppedCubes.sum == totals + 1)
    }
  }

  test("two runs at once: no row twice, none lost") {
    for {
      ((name, declared, settings), place) <- cases.zipWithIndex
      number <- place % 3 until operationsOf(declared, settings).size by (if (all) 3 else 9)
    } {
      val table = newTable(declared)
      val before = table.rows
      table.store.faults.arm(
        number,
        Meanwhile { () =>
          // Its own operations don't fail.
          run(taskOf(table, settings)): Unit
        })
      val result = Caught(run(taskOf(table, settings)))
      table.store.faults.disarm(): Unit
      assert(table.rows == before, s"$name, $number: $result")
      assert(table.orphans.isEmpty, s"$name, $number: $result")
      assert(table.now.live.forall(_.cube.isDefined), s"$name, $number: $result")
      result.failed.foreach(e => assert(e.isInstanceOf[ConcurrentModificationException], s"$e"))
    }
  }

  test("files with only deleted rows are removed without replacement") {
    val table = new MemoryTable("t", schema)
    table.append((0L until 30L).map(row))
    table.delete(_ => true)
    val result = run(taskOf(table))
    assert(result.outcomes.size == 1)
    assert(table.now.live.isEmpty && table.rows.isEmpty)
  }
}
