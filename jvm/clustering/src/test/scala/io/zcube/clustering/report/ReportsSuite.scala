package io.zcube.clustering.report

import org.apache.spark.sql.catalyst.analysis.caseInsensitiveResolution
import org.apache.spark.sql.types.{IntegerType, MapType, StructType}
import org.apache.spark.sql.zcube.Sessions
import org.apache.spark.sql.{AnalysisException, Row}
import org.json4s.jackson.JsonMethods
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable, StoreFaults}
import io.zcube.clustering.plan.RewritePlan
import io.zcube.clustering.run.{CommitMetrics, GroupOutcome, LayoutSession}
import io.zcube.clustering.table.WhereClause
import io.zcube.planning.{DataFile, Extents, PlannedGroup}

/** What users see of a run and of a table, on tables in memory. */
class ReportsSuite extends AnyFunSuite with MemoryEngine {

  private def newTable(declared: Seq[String] = Nil, schema: StructType = schema): MemoryTable = {
    val table = new MemoryTable("t", schema, declared = declared)
    (0L until 600L).map(row).grouped(100).foreach(table.append)
    table
  }

  private def describe(table: MemoryTable, by: String*): Seq[Row] = Sessions.within(session) {
    DescribeClusteringReport.of(
      table.latest(),
      by.map(Seq(_)),
      caseInsensitiveResolution,
      WhereClause.Everything)
  }

  private def value[T](row: Row, field: String): T =
    row.getAs[T](DescribeClusteringReport.schema.fieldIndex(field))

  private def names(rows: Seq[Row]): Seq[String] = rows.map(value[String](_, "column"))

  private def rangesOfX(table: MemoryTable): Seq[(Int, Int)] = table.now.live.map { file =>
    val xs = file.rowsIn(table.store).map(_.getInt(1))
    (xs.min, xs.max)
  }

  /** For each file, how many files hold the value of its range that most of them hold; the mean. */
  private def depth(table: MemoryTable): Double = {
    val ranges = rangesOfX(table)
    val depths = ranges.map { case (low, high) =>
      (low to high).map(x => ranges.count { case (from, to) => from <= x && x <= to }).max
    }
    depths.sum.toDouble / ranges.size
  }

  test("DESCRIBE CLUSTERING takes the columns of BY, of the table, or of the last ZORDER BY") {
    val plain = newTable()
    assert(names(describe(plain, "Y")) === Seq("y", "*"))
    assert(names(describe(newTable(Seq("y", "x")))) === Seq("y", "x", "*"))
    val error = intercept[AnalysisException](describe(plain))
    assert(error.getCondition === "ZCUBE_NO_CLUSTERING_COLUMNS")
    run(taskOf(plain))
    assert(names(describe(plain)) === Seq("x", "y", "*"))
  }

  test("DESCRIBE CLUSTERING measures depth before and after, and the bytes in cubes") {
    val table = newTable()
    for (inCubes <- Seq(0L, table.now.live.map(_.bytes).sum)) {
      val Seq(x, _) = describe(table, "x")
      assert(math.abs(value[Double](x, "average_depth") - depth(table)) < 1e-9)
      assert(value[Long](x, "files") === table.now.live.size)
      assert(value[Long](x, "bytes_in_cubes") === 0)
      if (inCubes == 0) run(taskOf(table))
    }
    val rows = describe(table)
    assert(value[Long](rows.last, "bytes_in_cubes") === table.now.live.map(_.bytes).sum)
    assert(value[Long](rows.last, "cubes") === 1)
  }

  test("DESCRIBE CLUSTERING rejects columns that don't exist or have no order") {
    val unknown = intercept[AnalysisException](describe(newTable(), "X", "nowhere"))
    assert(unknown.getCondition === "ZCUBE_COLUMN_NOT_FOUND")
    assert(unknown.getMessageParameters.get("known") === "id, x, y, p")
    val table = new MemoryTable("t", schema.add("a b", MapType(IntegerType, IntegerType)))
    val quoted = intercept[AnalysisException](describe(table, "nowhere"))
    assert(quoted.getMessageParameters.get("known") === "id, x, y, p, `a b`")
    assert(intercept[AnalysisException](describe(table, "a b")).getCondition ===
      "ZCUBE_UNORDERED_TYPE")
  }

  private def dryRun(table: MemoryTable, maxListed: Int = 100): Seq[Row] =
    Sessions.within(session) {
      val task = taskOf(table, options = Seq("forecast" -> "true"))
      val planned = RewritePlan.of(task)
      val reading = LayoutSession.cloneOf(session, task.version)
      DryRunReport.rows(
        planned,
        Forecast.of(reading, task, planned, sampling = true),
        maxListed)
    }

  test("a dry run changes nothing, and forecasts what the run then does") {
    val table = newTable()
    val (commits, files, before) = (table.now.commits.size, table.now.live.size, depth(table))
    val Seq(group, total) = dryRun(table)
    assert(table.now.commits.size === commits)
    assert(table.unprepared.get === 0)
    assert(group.getString(1) === "rewrite")
    assert((group.getLong(4), group.getLong(5)) === (files, table.now.live.map(_.bytes).sum))
    run(taskOf(table))
    val forecast = total.getStruct(8)
    assert((forecast.getLong(0), forecast.getLong(1)) === (files, table.now.live.size))
    // All 600 rows are sampled, so the forecast of x is what the files then have.
    val x = forecast.getSeq[Row](6).head
    assert(x.getString(0) === "x")
    assert(math.abs(x.getDouble(1) - before) < 1e-9)
    assert(math.abs(x.getDouble(2) - depth(table)) < 1e-9)

    val Seq(stay, nothing) = dryRun(table)
    assert((stay.getString(1), stay.getLong(4)) === ("stay", table.now.live.size))
    assert(nothing.getLong(4) === 0)
  }

  test("all files to rewrite are listed; of those that stay, some are, and all are counted") {
    val table = newTable()
    val Seq(rewrite, _) = dryRun(table, maxListed = 2)
    assert(rewrite.getSeq[Row](7).size === table.now.live.size)
    run(taskOf(table))
    val files = table.now.live.map(_.path).toSeq.sorted
    val Seq(stay, _) = dryRun(table, maxListed = 2)
    assert(stay.getSeq[Row](7).map(_.getString(0)) === files.take(2))
    assert(stay.getLong(4) === files.size)
    assert(stay.getMap[String, Long](3).values.sum === files.size)
  }

  test("a file without statistics doesn't make a forecast count rows that aren't there") {
    val table = newTable()
    def filesAfter(hide: DataFile => DataFile): Long = Sessions.within(session) {
      val task = taskOf(table, planning(settings)(_.copy(maxRecords = 5)))
      val planned = RewritePlan.of(task)
      val groups = planned.groups.map { group =>
        val first +: others = group.planned.files
        val files = first.copy(file = hide(first.file)) +: others
        group.copy(planned = PlannedGroup(files, group.planned.sizes)(new Extents(Nil)))
      }
      val reading = LayoutSession.cloneOf(session, task.version)
      Forecast.of(reading, task, planned.copy(groups = groups), sampling = false).filesAfter
    }
    // 600 rows, and ten of them are a target's worth of bytes.
    assert(filesAfter(identity) > 600 / 5)
    assert((50L to 60L).contains(filesAfter(_.copy(rows = None))))
  }

  test("the report on a workload counts the files that each query reads before and after") {
    val table = newTable()
    def read(low: Int, high: Int): Long =
      rangesOfX(table).count { case (from, to) => from < high && to >= low }.toLong
    val task = taskOf(
      table,
      options = Seq("details" -> "true", "workload" -> """["x >= 10 AND x < 20", "x < 5"]"""))
    val before = (read(10, 20), read(0, 5))
    Sessions.within(session) {
      val report = WorkloadReport.of(task)
      run(task)
      val Seq(tens, low) = report.after()
      assert((tens("filesBefore"), low("filesBefore")) === before)
      assert((tens("filesAfter"), low("filesAfter")) === (read(10, 20), read(0, 5)))
      // Each of the first files has all values.
      assert((before._1, before._2) === (6, 6))
      assert(read(10, 20) < table.now.live.size / 2)
      assert(Seq(tens, low).map(_("note")) === Seq("", ""))
    }
    assert(table.rows.values.sum === 600)
  }

  test("if the table can't be read after a run, the report on a workload says so") {
    val table = newTable()
    val task =
      taskOf(table, options = Seq("details" -> "true", "workload" -> """["x < 5"]"""))
    Sessions.within(session) {
      val report = WorkloadReport.of(task)
      table.store.faults.arm(0, StoreFaults.Before)
      val Seq(query) = report.after()
      table.store.faults.disarm(): Unit
      assert(query("filesBefore") === 6)
      assert(query("filesAfter") == null && query("bytesAfter") == null)
      assert(query("note").toString.startsWith("not read afterwards: "))
    }
  }

  test("the history records what the reference page describes, and nothing else") {
    val committed = run(taskOf(newTable())).outcomes.collect {
      case done: GroupOutcome.Committed => done.rewritten
    }
    val recorded =
      CommitMetrics.ours(committed).keySet ++ CommitMetrics.parameters(committed).keySet
    // The CPU time is missing if Spark's events lag behind.
    assert(recorded + "cpuTimeMs" === CommitMetrics.described.map(_._1).toSet)
  }

  test("what a budget leaves counts whole files, like all else that details report") {
    val table = newTable()
    table.delete(_.getLong(0) % 4 == 0)
    val before = table.now.live
    val task = taskOf(
      table,
      options = Seq("maxBytes" -> (before.map(_.bytes).sum / 2).toString))
    val details = Sessions.within(session)(
      JsonMethods.parse(RunDetails.json(run(task), WorkloadReport.of(task))))
    val (left, rewritten) = before.partition(file => table.now.files.contains(file.path))
    assert(left.nonEmpty && rewritten.nonEmpty)
    assert((details \ "left" \ "bytes").values === BigInt(left.map(_.bytes).sum))
    assert(((details \ "cubes")(0) \ "bytes").values === BigInt(rewritten.map(_.bytes).sum))
  }

  test("without details nothing is counted") {
    val task = taskOf(newTable(), options = Seq("workload" -> """["x < 5"]"""))
    assert(Sessions.within(session)(WorkloadReport.of(task).after()) === Nil)
  }
}
