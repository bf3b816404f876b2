package io.zcube.clustering.plan

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.caseSensitiveResolution
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.predicates.{PredicateBoxes, ValueRange, WeightedPredicate}

class OptimizeTaskSuite extends AnyFunSuite with MemoryEngine {

  private val table = new MemoryTable(
    "t",
    StructType.fromDDL("x INT, flag BOOLEAN, y BIGINT"),
    Nil,
    Seq("x", "flag", "y"))

  private def task(curve: LayoutKind, weights: Seq[Double], workload: String*): OptimizeTask = {
    val version = table.latest()
    val columns = Seq("x", "flag", "y")
      .flatMap(name => version.column(Seq(name), caseSensitiveResolution))
    OptimizeTask(
      version,
      WhereClause.Everything,
      columns,
      clustered = true,
      isFull = false,
      OptimizeOptions.of(Nil, curve),
      settings.copy(maxRecords = 7),
      weights,
      WorkloadQuery.resolve(session, version, columns, workload.map(WeightedPredicate(_, 1.0)))
    )
  }

  test("a layout gets the limit of rows in a file") {
    assert(task(LayoutKind.ZOrder, Nil).layoutRequest.maxRows === 7)
  }

  test("a column without statistics has no weight, where columns have weights") {
    assert(task(LayoutKind.KdTree, Nil).layoutRequest.weights === Seq(1.0, 0.0, 1.0))
    assert(task(LayoutKind.KdTree, Seq(0.5, 1.0, 0.1)).layoutRequest.weights ===
      Seq(0.5, 0.0, 0.1))
    assert(task(LayoutKind.Hilbert, Nil).layoutRequest.weights === Nil)
  }

  test("of a column without minima, a workload only cuts NULLs off") {
    def ranges(predicate: String): Seq[PredicateBoxes.Box] =
      task(LayoutKind.KdTree, Nil, predicate, "y = 3").layoutRequest.workload.head.boxes
    assert(ranges("x < 5 AND flag").map(_.keySet) === Seq(Set(0)))
    assert(ranges("x < 5 AND flag IN (true, false)").map(_.keySet) === Seq(Set(0)))
    assert(ranges("flag IS NULL") === Seq(Map(1 -> ValueRange.Null)))
    assert(ranges("flag IS NOT NULL") === Seq(Map(1 -> ValueRange.NotNull)))
  }

  test("queries that must read every file cut nothing") {
    val all = task(LayoutKind.KdTree, Nil, "flag OR x < 5", "x + y = 3", "NOT flag", "y = 3")
    assert(all.workload.size === 4)
    assert(all.layoutRequest.workload.map(_.boxes.map(_.keySet)) === Seq(Seq(Set(2))))
  }

  test("a workload in which every query must read every file is refused") {
    for (predicate <- Seq("x + y = 3", "flag")) {
      val error = intercept[AnalysisException](task(LayoutKind.KdTree, Nil, predicate))
      assert(error.getCondition === "ZCUBE_WORKLOAD_WITHOUT_RANGES")
    }
  }
}
