package io.zcube.clustering.plan

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.caseSensitiveResolution
import org.apache.spark.sql.catalyst.expressions.{Attribute, IsNotNull}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable, MemoryVersion}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.predicates.{ParsedQuery, PredicateBoxes, ValueRange}

class OptimizeTaskSuite extends AnyFunSuite with MemoryEngine {
  import MemoryVersion.{WithoutStatistics => Without}

  private val table = new MemoryTable(
    "t",
    StructType.fromDDL(s"x INT, flag BOOLEAN, y BIGINT, $Without INT, z INT NOT NULL"),
    Nil,
    Seq("x", "flag", "y", Without))

  private def task(curve: LayoutKind, weights: Seq[Double], workload: String*): OptimizeTask = {
    val version = table.latest()
    val columns = Seq("x", "flag", "y", Without)
      .flatMap(name => version.column(Seq(name), caseSensitiveResolution))
    OptimizeTask(
      version,
      WhereClause.Everything,
      columns,
      declared = true,
      isFull = false,
      OptimizeOptions.of(Nil, curve),
      planning(settings)(_.copy(maxRecords = 7)),
      weights,
      ResolvedQuery.resolve(session, version, columns, workload.map(ParsedQuery(_, 1.0)))
    )
  }

  test("a layout gets the limit of rows in a file") {
    assert(task(LayoutKind.ZOrder, Nil).layoutRequest().maxRecords === 7)
  }

  test("a column without statistics has no weight, where columns have weights") {
    assert(task(LayoutKind.KdTree, Nil).layoutRequest().weights === Seq(1.0, 0.0, 1.0, 0.0))
    assert(task(LayoutKind.KdTree, Seq(0.5, 1.0, 0.1, 0.7)).layoutRequest().weights ===
      Seq(0.5, 0.0, 0.1, 0.0))
    assert(task(LayoutKind.Hilbert, Nil).layoutRequest().weights === Nil)
  }

  test(
    "of a group that covers little of a column, the column weighs less") {
    val extents = Seq(0.02, 1.0, 0.5, 1.0)
    def weights(kind: LayoutKind, of: Double*) = task(kind, of).layoutRequest(extents).weights
    assert(weights(LayoutKind.KdTree) === Seq(0.02, 0.0, 0.5, 0.0))
    assert(weights(LayoutKind.KdTree, 1.0, 1.0, 0.1, 0.7) === Seq(0.02, 0.0, 0.05, 0.0))
    assert(weights(LayoutKind.Hilbert) === Nil)
  }

  test("of a column without minima, a workload only cuts NULLs off") {
    def ranges(predicate: String): Seq[PredicateBoxes.Box] =
      task(LayoutKind.KdTree, Nil, predicate, "y = 3").layoutRequest().workload.head.boxes
    for (some <- Seq("flag", "NOT flag", "flag IN (true, false)")) {
      val Seq(box) = ranges(s"x < 5 AND $some")
      assert(box.keySet === Set(0, 1))
      assert(box(1) === ValueRange.NotNull)
    }
    val all = ValueRange(ValueRange.NotNull.values, nulls = true)
    assert(PredicateBoxes(Seq(Map(0 -> all)), Nil).skippable(_ => false, _ => true).isAnything)
    assert(ranges("flag IS NULL") === Seq(Map(1 -> ValueRange.Null)))
    assert(ranges("flag IS NOT NULL") === Seq(Map(1 -> ValueRange.NotNull)))
  }

  test("of a column without statistics, a workload cuts nothing off") {
    for (some <- Seq("= 3", "IS NULL", "IS NOT NULL")) {
      val query = task(LayoutKind.KdTree, Nil, s"x < 5 AND $Without $some").workload.head
      assert(query.ranges.get.boxes.map(_.keySet) === Seq(Set(0)))
    }
  }

  test("what a query reads is counted by the condition that a scan of it gets") {
    def notNull(predicate: String): Set[String] =
      task(LayoutKind.KdTree, Nil, predicate).workload.head.condition
        .collect { case IsNotNull(column: Attribute) => column.name }.toSet
    assert(notNull("flag") === Set("flag"))
    assert(notNull("x < 5 AND z = 3") === Set("x"))
  }

  test("notes name what doesn't affect the layout") {
    def notes(predicate: String): Seq[String] =
      task(LayoutKind.KdTree, Nil, predicate, "y = 3").workload.head.notes
    assert(notes("x < 5 AND y > 7") === Nil)
    assert(notes("1 = 1") === Seq("doesn't use the clustering columns"))
    assert(notes("x < 5 AND x + y = 3") === Seq("unsupported: ((CAST(x AS BIGINT) + y) = 3L)"))
    assert(notes(s"flag AND x < 5 AND $Without = 3") ===
      Seq(s"files have no statistics for it: $Without"))
  }

  test("queries that must read every file cut nothing") {
    val all =
      task(LayoutKind.KdTree, Nil, s"$Without = 1 OR x < 5", "x + y = 3", s"$Without = 1", "y = 3")
    assert(all.workload.size === 4)
    assert(all.layoutRequest().workload.map(_.boxes.map(_.keySet)) === Seq(Seq(Set(2))))
  }

  test("a workload in which every query must read every file is refused") {
    for (predicate <- Seq("x + y = 3", s"$Without = 1")) {
      val error = intercept[AnalysisException](task(LayoutKind.KdTree, Nil, predicate))
      assert(error.getCondition === "ZCUBE_WORKLOAD_WITHOUT_RANGES")
    }
  }

  test("a workload in another spelling cuts the same, and is the same workload") {
    def tagged(predicates: String*) = task(LayoutKind.KdTree, Nil, predicates: _*)
    val declared = tagged("x < 5")
    val other = tagged("X < 5")
    assert(other.workload.map(_.boxes) === declared.workload.map(_.boxes))
    assert(other.layoutTag === declared.layoutTag)
    // Files have this in their tags.
    val sha256 = MessageDigest.getInstance("SHA-256").digest("1.0|(x < 5)".getBytes(UTF_8))
    assert(declared.layoutTag.workload === Some(sha256.take(8).map(b => f"$b%02x").mkString))
  }

  test("a workload with times that have offsets is the same in every time zone") {
    def tagged(zone: String, predicate: String) = {
      val key = SQLConf.SESSION_LOCAL_TIMEZONE.key
      val before = session.conf.get(key)
      session.conf.set(key, zone)
      try task(LayoutKind.KdTree, Nil, s"x < 5 AND current_timestamp() > $predicate").layoutTag
      finally session.conf.set(key, before)
    }
    val time = "timestamp'2024-07-01 12:00:00+02:00'"
    val utc = tagged("UTC", time)
    assert(tagged("Asia/Tokyo", time) === utc)
    assert(tagged("Asia/Tokyo", s"array($time)[0]") === tagged("UTC", s"array($time)[0]"))
    assert(tagged("UTC", "timestamp'2024-07-01 10:00:00Z'") === utc)
    // Of other times: its layout is another.
    assert(tagged("Asia/Tokyo", "timestamp'2024-07-01 10:00:00'") !== utc)
  }
}
