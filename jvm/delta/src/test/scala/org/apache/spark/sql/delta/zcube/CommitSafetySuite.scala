package org.apache.spark.sql.delta.zcube

import java.nio.file.Files
import java.util.concurrent.atomic.AtomicBoolean

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{GreaterThan, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

/** What can't be brought about from outside: a log store that fails, a rewrite that loses rows. */
class CommitSafetySuite extends AnyFunSuite with DeltaSparkSession {

  override protected def settings: Map[String, String] =
    Map("spark.delta.logStore.file.impl" -> classOf[ThrowingLogStore].getName)

  private def table(name: String): String = {
    val path = folder.resolve(name).toString
    spark.range(0, 3000, 1, 3).selectExpr("id", "hash(id) AS x").write.format("delta").save(path)
    path
  }

  private def optimize(path: String): Unit =
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id, x)").collect(): Unit

  private def rows(path: String): Set[Row] = spark.read.format("delta").load(path).collect().toSet

  private def dataFiles(path: String): Set[String] = {
    val walk = Files.walk(java.nio.file.Paths.get(path))
    try walk
        .iterator()
        .asScala
        .filter(f => f.toString.endsWith(".parquet") && !f.toString.contains("_delta_log"))
        .map(_.getFileName.toString)
        .toSet
    finally walk.close()
  }

  private def failing(mode: String)(body: => Unit): Throwable = {
    ThrowingLogStore.mode.set(mode)
    try intercept[Exception](body)
    finally ThrowingLogStore.mode.set("")
  }

  test("the log store throws after writing: the commit may be there, so its files are kept") {
    val path = table("after")
    val (before, known) = (rows(path), dataFiles(path))
    failing("after")(optimize(path))
    assert((dataFiles(path) -- known).nonEmpty)
    DeltaLog.clearCache()
    assert(DeltaLog.forTable(spark, path).update().version === 1)
    assert(rows(path) === before)
  }

  test("the log store throws without writing: the table is as it was, readable and optimizable") {
    val path = table("before")
    val before = rows(path)
    failing("before")(optimize(path))
    DeltaLog.clearCache()
    assert(DeltaLog.forTable(spark, path).update().version === 0)
    assert(rows(path) === before)
    optimize(path)
    assert(rows(path) === before)
  }

  test("a rewrite that loses rows commits nothing and leaves no file") {
    val path = table("mismatch")
    val (before, known) = (rows(path), dataFiles(path))
    val dropped = new AtomicBoolean(false)
    // A faulty rule of somebody's: it drops rows of the plan that writes, not of the one that samples.
    val faulty = new Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
        case sort @ Sort(_, false, child, _) if !child.isInstanceOf[Filter] =>
          dropped.set(true)
          val id = child.output.find(a => a.name == "id" && a.dataType == LongType).get
          sort.copy(child = Filter(GreaterThan(id, Literal(10L)), child))
      }
    }
    spark.experimental.extraOptimizations = Seq(faulty)
    val error =
      try intercept[Exception](optimize(path))
      finally spark.experimental.extraOptimizations = Nil
    assert(dropped.get)
    assert(error.getMessage.contains("ZCUBE_ROW_COUNT_MISMATCH"))
    assert(error.getMessage.contains("3000"))
    assert(DeltaLog.forTable(spark, path).update().version === 0)
    assert(dataFiles(path) === known)
    assert(rows(path) === before)
  }
}
