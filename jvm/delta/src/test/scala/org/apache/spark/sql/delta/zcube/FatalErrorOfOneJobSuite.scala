package org.apache.spark.sql.delta.zcube

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.Success
import org.apache.spark.scheduler._
import org.apache.spark.sql.catalyst.expressions.ScalaUDF
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.types.{BooleanType, LongType}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.concurrent.{Caught, Causes}

/** A fatal error in the thread of one job, while another job of the same OPTIMIZE has written a file
  * and is writing more: both jobs end, nothing of either is left, and the error is reported.
  */
class FatalErrorOfOneJobSuite extends AnyFunSuite with DeltaSparkSession {
  import FatalErrorOfOneJobSuite._

  // Files are so small that each partition has several, so each has its own job.
  override protected def settings: Map[String, String] = Map(MaxFileSize -> "5000")

  private def rows(path: String): Set[(Long, Long)] =
    spark.read.format("delta").load(path).collect().map(r => (r.getLong(0), r.getLong(1))).toSet

  private def endOf(path: String): Try[Unit] = {
    @volatile var end: Option[Try[Unit]] = None
    val statement = new Thread(() =>
      end = Some(Caught(spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id)").collect(): Unit)))
    statement.setDaemon(true)
    statement.start()
    statement.join(60000)
    end.getOrElse(fail("OPTIMIZE did not end"))
  }

  private val memory = () => new OutOfMemoryError("a test's")
  private val linkage = () => new NoClassDefFoundError("a test's")

  /** Both jobs in the commit of small cubes, a commit each, or both in the commit of a batch. */
  private val cases = Seq[(String, Seq[(String, String)], () => Throwable)](
    ("shared", Nil, memory),
    ("each", Seq(MinCubeSize -> "1"), linkage)
  ) ++ Night.only(
    ("each", Seq(MinCubeSize -> "1"), memory),
    ("batch", Seq(BatchSize -> "1g"), linkage))

  for (((commit, settings, error), number) <- cases.zipWithIndex)
    test(
      s"a ${error().getClass.getSimpleName} while another job writes leaves rows and files; commit: $commit") {
      val path = folder.resolve(s"table-$number").toString
      spark.range(0, 6000, 1, 3).selectExpr("id", "id % 2 AS p").write.partitionBy("p")
        .format("delta").save(path)
      val (before, known) = (rows(path), dataFiles(path))
      val thrown = error()
      val jobs = new Jobs
      val rule = new OneFailsOneWaits(thrown, jobs)
      over = jobs.over
      spark.sparkContext.addSparkListener(jobs)
      spark.experimental.extraOptimizations = Seq(rule)
      settings.foreach { case (key, value) => spark.conf.set(key, value) }
      val end =
        try endOf(path)
        finally {
          settings.foreach { case (key, _) => spark.conf.unset(key) }
          spark.experimental.extraOptimizations = Nil
          spark.sparkContext.listenerBus.waitUntilEmpty()
          spark.sparkContext.removeSparkListener(jobs)
        }
      assert(rule.threads === 2)
      assert(Causes.of(end.failed.get).contains(thrown), end)
      assert(jobs.running === 0)
      DeltaLog.clearCache()
      assert(DeltaLog.forTable(spark, path).update().version === 0)
      assert(dataFiles(path) === known)
      assert(rows(path) === before)
      assert(endOf(path).isSuccess)
      assert(rows(path) === before)
    }

  /** The first thread that plans its writing waits until another's job has written a file, then fails.
    * The other's job can't end before it is cancelled.
    */
  private class OneFailsOneWaits(error: Throwable, jobs: Jobs) extends Rule[LogicalPlan] {
    private val planning = new ConcurrentHashMap[Thread, Integer]
    private val order = new AtomicInteger(0)

    def threads: Int = order.get

    override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
      case sort @ Sort(_, false, child, _) if !child.isInstanceOf[Filter] =>
        val place = planning.computeIfAbsent(Thread.currentThread(), _ => order.incrementAndGet())
        if (place == 1) {
          assert(jobs.written.await(30, TimeUnit.SECONDS), "no file was written")
          throw error
        }
        val id = child.output.find(a => a.name == "id" && a.dataType == LongType).get
        // Not deterministic, so that Spark leaves it after the shuffle.
        val waits = ScalaUDF(waitForEnd, BooleanType, Seq(id), Nil, udfDeterministic = false)
        sort.copy(child = Filter(waits, child))
    }
  }
}

object FatalErrorOfOneJobSuite {
  private val MaxFileSize = "spark.databricks.delta.optimize.maxFileSize"

  private val BatchSize = "spark.databricks.delta.optimize.batchSize"

  private val MinCubeSize =
    "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold"

  // Tasks run in this JVM; they share state only through an object.
  @volatile private var over = new CountDownLatch(0)

  /** Withholds all but the first rows from the writer until the job has been cancelled. */
  private val waitForEnd: Any => Any = (id: Any) => {
    if (id.asInstanceOf[Long] >= 3000) Uninterrupted.await(over)
    true
  }

  /** What the writing jobs do. */
  private class Jobs extends SparkListener {
    val written = new CountDownLatch(1)
    val over = new CountDownLatch(1)
    private val stages = ConcurrentHashMap.newKeySet[Int]()
    private val tasks = new AtomicInteger(0)

    def running: Int = tasks.get

    override def onJobStart(event: SparkListenerJobStart): Unit =
      if (event.properties.getProperty("spark.job.description", "").contains("writing")) {
        stages.addAll(event.stageIds.asJava): Unit
      }

    override def onTaskStart(event: SparkListenerTaskStart): Unit =
      if (stages.contains(event.stageId)) tasks.incrementAndGet(): Unit

    override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
      if (stages.contains(event.stageId)) {
        tasks.decrementAndGet()
        if (event.taskType == "ResultTask" && event.reason == Success) written.countDown()
      }

    override def onJobEnd(event: SparkListenerJobEnd): Unit =
      if (event.jobResult != JobSucceeded) over.countDown()
  }
}
