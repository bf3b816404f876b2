package org.apache.spark.sql.delta.zcube

import java.nio.file.Files
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.spark.scheduler._
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, GreaterThan, Literal, ScalaUDF}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.types.{BooleanType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** What can't be brought about from outside: a log store that fails, a rewrite that loses rows. */
class CommitSafetySuite extends AnyFunSuite with DeltaSparkSession {
  import CommitSafetySuite._

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

  /** With a faulty rule of somebody's: it filters rows of the plan that writes, not of the one that samples. */
  private def filteringWrites[T](condition: Attribute => Expression)(body: => T): T = {
    val filtered = new AtomicBoolean(false)
    val rule = new Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
        case sort @ Sort(_, false, child, _) if !child.isInstanceOf[Filter] =>
          filtered.set(true)
          val id = child.output.find(a => a.name == "id" && a.dataType == LongType).get
          sort.copy(child = Filter(condition(id), child))
      }
    }
    spark.experimental.extraOptimizations = Seq(rule)
    try {
      val result = body
      assert(filtered.get)
      result
    } finally spark.experimental.extraOptimizations = Nil
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
    val error = filteringWrites(id => GreaterThan(id, Literal(10L))) {
      intercept[Exception](optimize(path))
    }
    assert(error.getMessage.contains("ZCUBE_ROW_COUNT_MISMATCH"))
    assert(error.getMessage.contains("3000"))
    assert(DeltaLog.forTable(spark, path).update().version === 0)
    assert(dataFiles(path) === known)
    assert(rows(path) === before)
  }

  // As the interrupt of Spark Connect does, or of an application's thread pool.
  for (batched <- Seq(false, true))
    test(s"an interrupt commits nothing, leaves no file and no task, batched: $batched") {
      val path = table(s"interrupted-$batched")
      val (before, known) = (rows(path), dataFiles(path))
      var outcome: Option[Throwable] = None
      var tagsAfter = Set.empty[String]
      val run = new Thread(() => {
        outcome =
          try {
            optimize(path)
            None
          } catch { case e: Throwable => Some(e) }
        tagsAfter = spark.sparkContext.getJobTags()
      })
      jobOver = new CountDownLatch(1)
      val atWork = new AtomicInteger(0)
      val listener = new SparkListener {
        private val ours = ConcurrentHashMap.newKeySet[Int]()
        override def onJobStart(event: SparkListenerJobStart): Unit =
          if (event.properties.getProperty("spark.job.description", "").contains("writing")) {
            ours.add(event.jobId)
            run.interrupt()
          }
        override def onTaskStart(event: SparkListenerTaskStart): Unit =
          atWork.incrementAndGet(): Unit
        override def onTaskEnd(event: SparkListenerTaskEnd): Unit = atWork.decrementAndGet(): Unit
        override def onJobEnd(event: SparkListenerJobEnd): Unit =
          if (ours.contains(event.jobId)) jobOver.countDown()
      }
      spark.sparkContext.addSparkListener(listener)
      if (batched) spark.conf.set(BatchSize, "1g")
      try filteringWrites(id => ScalaUDF(afterTheJob, BooleanType, Seq(id), Nil)) {
          run.start()
          run.join(60000)
        }
      finally {
        spark.sparkContext.removeSparkListener(listener)
        spark.conf.unset(BatchSize)
      }
      assert(!run.isAlive)
      spark.sparkContext.listenerBus.waitUntilEmpty()
      assert(atWork.get === 0)
      assert(outcome.exists(_.isInstanceOf[InterruptedException]))
      assert(tagsAfter.isEmpty)
      assert(DeltaLog.forTable(spark, path).update().version === 0)
      assert(dataFiles(path) === known)
      assert(rows(path) === before)
    }
}

object CommitSafetySuite {
  private val BatchSize = "spark.databricks.delta.optimize.batchSize"

  // Tasks run in this JVM; only through an object do they see the same.
  @volatile private var jobOver = new CountDownLatch(0)

  /** Keeps a row from the writer until the job that writes is over for its caller. */
  private val afterTheJob: Any => Any = _ => jobOver.await(30, TimeUnit.SECONDS)
}
