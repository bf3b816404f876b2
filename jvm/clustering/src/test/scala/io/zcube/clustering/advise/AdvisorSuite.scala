package io.zcube.clustering.advise

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryFile, MemoryRelation, MemoryTable}

/** RECOMMEND CLUSTERING, on tables in memory. */
class AdvisorSuite extends AnyFunSuite with MemoryEngine {

  /** In no order: each append has rows of all values. */
  private def newTable(declared: Seq[String] = Nil): MemoryTable = {
    val table = new MemoryTable("points", schema, declared = declared)
    (0L until 4000L).map(row).grouped(200).foreach(table.append)
    Sessions.rowsOf(session, MemoryRelation.of(table)).createOrReplaceGlobalTempView("points")
    table
  }

  private def advise(table: MemoryTable, queries: (String, Double)*): Seq[Row] =
    Sessions.within(session) {
      val version = table.latest()
      val reader = new QueryAnalyzer(session, version)
      val analyzed = queries.map { case (text, weight) => reader.read(text, weight) }
      new Advisor(session, version, settings, analyzed).rows
    }

  private def value[T](row: Row, field: String): T =
    row.getAs[T](RecommendationReport.schema.fieldIndex(field))

  private def holding(table: MemoryTable)(test: InternalRow => Boolean): Int =
    table.now.live.count(_.rowsIn(table.store).exists(test))

  test("the column that queries filter by comes first, and is worth it") {
    val table = newTable()
    val today +: layouts = advise(
      table,
      "SELECT sum(y) FROM points WHERE x = 17" -> 1.0,
      "x BETWEEN 40 AND 42" -> 1.0)
    // Every file has all of the 101 values of x.
    assert(value[Double](today, "files_read") === 2 * table.now.live.size)
    assert(value[Boolean](layouts.head, "worthwhile"))
    layouts.foreach(row => assert(value[Seq[String]](row, "columns") === Seq("x")))
    assert(value[Seq[String]](layouts.head, "statements").head
      .startsWith("OPTIMIZE memory.points ZORDER BY (x)"))
  }

  for (default <- Seq("kdtree", "hilbert"))
    test(s"later runs need OPTIONS unless the layout is what they make without: $default") {
      session.conf.set("spark.zcube.layout.curve", default)
      val layouts =
        try advise(newTable(), "x < 10 AND y < 100" -> 1.0, "x = 3" -> 5.0).drop(1)
        finally session.conf.unset("spark.zcube.layout.curve")
      val needed = layouts.filter(value[Boolean](_, "worthwhile")).map { row =>
        val summary = value[String](row, "summary")
        val isDefault = value[String](row, "curve") == default && !summary.contains("with weights")
        val needsOptions = summary.endsWith("; later runs need the same OPTIONS")
        assert(needsOptions === !isDefault, summary)
        needsOptions
      }
      // The best ones are trees.
      assert(needed.contains(default != "kdtree"))
    }

  test("the forecast is what queries read after the recommended OPTIMIZE") {
    val table = newTable(declared = Seq("x", "y"))
    val _ +: best +: _ = advise(table, "x < 10 AND y < 100" -> 1.0)
    assert(value[Seq[String]](best, "columns").toSet === Set("x", "y"))
    val curve = value[String](best, "curve")
    run(taskOf(table, options = Seq("curve" -> curve)))
    val really = holding(table)(row => row.getInt(1) < 10 && row.getLong(2) < 100)
    // The forecast counts files whose ranges don't exclude the query, of a sample.
    val forecast = value[Double](best, "files_read")
    assert(forecast >= really * 0.9 && forecast <= really * 2 + 2, s"$forecast, $really")
    assert(forecast < table.now.live.size / 4)
  }

  test("weights decide between columns") {
    val byWeight = for (weight <- Seq(0.01, 100.0)) yield {
      val rows = advise(newTable(), "x = 3" -> 1.0, "y = 5" -> weight)
      value[Seq[String]](rows(1), "columns").head
    }
    assert(byWeight === Seq("x", "y"))
  }

  test("queries that read nothing of the table, or aren't queries, have a note and no layout") {
    val table = newTable()
    val Seq(today) = advise(
      table,
      "SELECT 1" -> 1.0,
      "SELECT nonsense(" -> 1.0,
      "DELETE FROM points" -> 1.0)
    val notes = value[Seq[Row]](today, "queries").map(_.getAs[Seq[String]](5).head)
    assert(notes.head === "it doesn't read the table, or needs no file of it")
    notes.tail.foreach(note => assert(note.startsWith("can't be read: ")))
    assert(value[Double](today, "files_read") === 0.0)
    assert(table.now.commits.size === 20)
  }

  test("a query of unknown tables counts by the table's column names") {
    val table = newTable()
    val today +: best +: _ = advise(
      table,
      "SELECT * FROM points p JOIN elsewhere e ON p.id = e.id WHERE p.x = 5 AND e.z = 1" -> 2.0)
    val Seq(query) = value[Seq[Row]](today, "queries")
    assert(query.getAs[Seq[String]](5).head.startsWith("matched by column names, 1 of "))
    assert(query.getLong(3) === holding(table)(_.getInt(1) == 5))
    assert(value[Seq[String]](best, "columns") === Seq("x"))
  }

  test("a query of another schema's table of the same name doesn't count") {
    val table = newTable()
    val Seq(today) = advise(table, "SELECT * FROM missing.points WHERE x = 5" -> 1.0)
    val Seq(query) = value[Seq[Row]](today, "queries")
    assert(query.getAs[Seq[String]](5).head.startsWith("can't be read: "))
    assert(value[Double](today, "files_read") === 0.0)
  }

  test("no layout is worth it for queries that read a file each") {
    val table = new MemoryTable("points", schema)
    (0L until 4000L).map(row).grouped(10).foreach(table.append)
    Sessions.rowsOf(session, MemoryRelation.of(table)).createOrReplaceGlobalTempView("points")
    val today +: layouts = advise(table, "id = 17" -> 1.0, "id = 3001" -> 1.0)
    assert(value[Double](today, "files_read") === 2.0)
    assert(value[Double](today, "bytes_read") === 20.0 * MemoryFile.RowBytes)
    assert(layouts.nonEmpty)
    layouts.foreach(row => assert(!value[Boolean](row, "worthwhile")))
  }
}
