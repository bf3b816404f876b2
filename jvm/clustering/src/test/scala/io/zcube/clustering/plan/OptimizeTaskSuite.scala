package io.zcube.clustering.plan

import org.apache.spark.sql.catalyst.analysis.caseSensitiveResolution
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable}
import io.zcube.clustering.table.WhereClause
import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.predicates.WeightedPredicate

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

  test("of a workload, only conditions on columns with statistics cut files") {
    val request = task(LayoutKind.KdTree, Nil, "x < 5 AND flag", "flag", "y = 3").layoutRequest
    assert(request.workload.map(_.boxes.map(_.keySet)) ===
      Seq(Seq(Set(0)), Seq(Set.empty), Seq(Set(2))))
  }
}
