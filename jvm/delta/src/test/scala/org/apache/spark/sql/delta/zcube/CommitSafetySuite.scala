package org.apache.spark.sql.delta.zcube

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}

import scala.jdk.CollectionConverters._

import org.apache.spark.Success
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

  private def table(name: String, partitions: Int = 1): String = {
    val path = folder.resolve(name).toString
    val rows =
      spark.range(0, 3000, 1, 3).selectExpr("id", "hash(id) AS x", s"id % $partitions AS p")
    rows.write.partitionBy(Seq("p").filter(_ => partitions > 1): _*).format("delta").save(path)
    path
  }

  private def optimize(path: String, by: String = "id, x"): Unit =
    spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY ($by)").collect(): Unit

  private def rows(path: String): Set[Row] = spark.read.format("delta").load(path).collect().toSet

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

  // As Spark Connect interrupts, or an application's thread pool.
  for ((batched, partitions) <- Seq((false, 1), (true, 1), (true, 2)))
    test(s"an interrupt leaves no commit, file or task; batched: $batched, groups: $partitions") {
      val path = table(s"interrupted-$batched-$partitions", partitions)
      val (before, known) = (rows(path), dataFiles(path))
      var outcome: Option[Throwable] = None
      var tagsAfter = Set.empty[String]
      val run = new Thread(() => {
        outcome =
          try {
            optimize(path, "id")
            None
          } catch { case e: Throwable => Some(e) }
        tagsAfter = spark.sparkContext.getJobTags()
      })
      val writes = new InterruptingListener(run)
      jobsOver = writes.jobsOver
      spark.sparkContext.addSparkListener(writes)
      spark.conf.set(MaxFileSize, "5000")
      if (batched) spark.conf.set(BatchSize, "1g")
      // Not deterministic, so that Spark leaves it after the shuffle.
      def waits(id: Attribute) =
        ScalaUDF(waitForJob, BooleanType, Seq(id), Nil, udfDeterministic = false)
      try filteringWrites(waits) {
          run.start()
          run.join(60000)
        }
      finally {
        spark.sparkContext.removeSparkListener(writes)
        spark.conf.unset(BatchSize)
        spark.conf.unset(MaxFileSize)
      }
      assert(!run.isAlive)
      assert(writes.endedWell > 0)
      assert(writes.running === 0)
      assert(outcome.exists(_.isInstanceOf[InterruptedException]))
      assert(tagsAfter.isEmpty)
      assert(DeltaLog.forTable(spark, path).update().version === 0)
      assert(dataFiles(path) === known)
      assert(rows(path) === before)
    }

  /** Interrupts a thread when the first of the tasks that write has ended well. */
  private class InterruptingListener(thread: Thread) extends SparkListener {
    val jobsOver = new CountDownLatch(1)
    private val stages = ConcurrentHashMap.newKeySet[Int]()
    private val started, ended, well = new AtomicInteger(0)

    def endedWell: Int = well.get

    def running: Int = {
      spark.sparkContext.listenerBus.waitUntilEmpty()
      started.get - ended.get
    }

    override def onJobStart(event: SparkListenerJobStart): Unit =
      if (event.properties.getProperty("spark.job.description", "").contains("writing")) {
        stages.addAll(event.stageIds.asJava): Unit
      }

    override def onTaskStart(event: SparkListenerTaskStart): Unit =
      if (stages.contains(event.stageId)) started.incrementAndGet(): Unit

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
      if (stages.contains(event.stageId)) {
        ended.incrementAndGet()
        if (event.taskType == "ResultTask" && event.reason == Success && well.incrementAndGet() == 1) {
          thread.interrupt()
        }
      }

    override def onJobEnd(event: SparkListenerJobEnd): Unit =
      if (event.jobResult != JobSucceeded) jobsOver.countDown()
  }
}

object CommitSafetySuite {
  private val BatchSize = "spark.databricks.delta.optimize.batchSize"

  private val MaxFileSize = "spark.databricks.delta.optimize.maxFileSize"

  // Tasks run in this JVM; only through an object do they see the same.
  @volatile private var jobsOver = new CountDownLatch(0)

  /** Keeps all but the first rows from the writer until the job is over for its caller. */
  private val waitForJob: Any => Any = (id: Any) => {
    if (id.asInstanceOf[Long] >= 1500) Uninterrupted.await(jobsOver)
    true
  }
}
