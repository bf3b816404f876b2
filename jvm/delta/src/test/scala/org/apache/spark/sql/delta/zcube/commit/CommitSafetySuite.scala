package org.apache.spark.sql.delta.zcube.commit

import java.io.IOException
import java.nio.file.FileAlreadyExistsException
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch}

import scala.jdk.CollectionConverters._

import io.delta.exceptions.ConcurrentDeleteReadException
import io.delta.storage.commit.CommitFailedException
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}
import org.apache.spark.Success
import org.apache.spark.scheduler._
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, GreaterThan, Literal, ScalaUDF}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.coordinatedcommits.CommitCoordinatorProvider
import org.apache.spark.sql.delta.zcube.{ThrowingCoordinator, ThrowingLogStore, Uninterrupted}
import org.apache.spark.sql.types.{BooleanType, LongType}
import org.scalatest.concurrent.Eventually.{eventually, timeout}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import io.zcube.Night
import io.zcube.concurrent.Caught

/** Cases that can't be caused from outside: a failing log store, a rewrite that loses rows. */
class CommitSafetySuite extends AnyFunSuite with CommitFaults {
  import CommitSafetySuite._

  /** With a faulty foreign rule, which filters rows in the writing plan but not in the sampling
    * plan.
    */
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

  private lazy val registered: Unit =
    CommitCoordinatorProvider.registerBuilder(ThrowingCoordinator)

  /** Another writer's commit is there first. */
  private def overtaken(error: => Throwable) = ThrowingLogStore.Fault { (_, write) =>
    write(Iterator(OthersCommit))
    throw error
  }

  /** One cube, two in two commits, two in one commit: small ones, or of a batch. */
  private val kinds = Seq(
    (1, "each", Seq.empty),
    (2, "each", Seq(MinCubeSize -> "1")),
    (2, "shared", Seq.empty),
    (2, "together", Seq(BatchSize -> "1g")))

  test("a log that can't be written to costs no file of a commit that went through") {
    val path = table("log-disk-full")
    val before = rows(path)
    var events = 0
    val appender =
      new AbstractAppender(
        "full",
        null,
        null, /* ignoreExceptions = */ false,
        Property.EMPTY_ARRAY) {
        override def append(event: LogEvent): Unit = {
          events += 1
          throw new IllegalStateException("disk full")
        }
      }
    appender.start()
    val name = classOf[CommitInquiry].getName
    Configurator.setLevel(name, Level.WARN)
    val logger = LogManager.getLogger(name).asInstanceOf[Logger]
    logger.addAppender(appender)
    val failure =
      try failing(ThrowingLogStore.after(lost))(optimize(path))
      finally {
        logger.removeAppender(appender)
        Configurator.setLevel(name, Level.ERROR)
      }
    assert(events > 0)
    assert(failure.isEmpty)
    assert(rows(path) == before)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
  }

  // Like S3 with DynamoDB, when a lost response made the SDK retry.
  // One kind of answer for each kind of commit, in turns; `ZCUBE_TESTS=all`: all three.
  for {
    ((cubes, commits, settings), i) <- kinds.zipWithIndex
    ((name, error, idempotent), j) <- Seq(
      ("already exists", () => exists, false),
      ("already exists", () => exists, true),
      ("connection lost", () => lost, false)).zipWithIndex
    if Night.all || i % 3 == j
  } test(s"a commit that is written is a success: $name, $cubes cubes, $commits; $idempotent") {
    val path = table(s"landed-$cubes-$commits-${name.hashCode}-$idempotent", cubes)
    val (before, known) = (rows(path), dataFiles(path))
    spark.conf.unset(LastVersion)
    withSettings(settings :+ Idempotency -> s"$idempotent": _*) {
      assert(failing(ThrowingLogStore.after(error()))(optimize(path)).isEmpty)
    }
    assert(spark.conf.get(LastVersion) == version(path).toString)
    assert(version(path) === (if (commits == "each") cubes else 1))
    assert(rows(path) === before)
    // All written files are live, and none of the old ones.
    assert(liveFiles(path) === dataFiles(path) -- known)
  }

  // Without Hudi's jar, its metadata can't be written.
  for (throws <- Seq(true, false))
    test(s"a hook that fails after the commit fails the statement where Delta's does: $throws") {
      val path = table(s"hook-$throws")
      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES " +
        "('delta.universalFormat.enabledFormats' = 'hudi')")
      val (before, known) = (rows(path), dataFiles(path))
      withSettings("spark.databricks.delta.postCommitHook.throwOnError" -> throws.toString) {
        val error = Caught(optimize(path)).failed.toOption
        assert(conditionOf(error) === Option.when(throws)("DELTA_POST_COMMIT_HOOK_FAILED"))
      }
      assert(version(path) === 2)
      assert(rows(path) === before)
      assert(liveFiles(path) === dataFiles(path) -- known)
    }

  test("a commit that is overtaken, and whose retry loses its response, is found in the log") {
    val path = table("overtaken-lost", 2)
    val before = rows(path)
    // The second attempt succeeds.
    val again = ThrowingLogStore.Fault { (_, write) =>
      ThrowingLogStore.instead.set(Some(ThrowingLogStore.after(exists)))
      write(Iterator(OthersCommit))
      throw exists
    }
    withSettings(MinCubeSize -> "1") {
      assert(failing(again)(optimize(path)).isEmpty)
    }
    assert(version(path) === 3)
    assert(rows(path) === before)
  }

  for ((cubes, commits, settings) <- if (Night.all) kinds else kinds.takeRight(2))
    test(s"a commit that may yet get there keeps its files, and says so: $cubes cubes, $commits") {
      val path = table(s"unknown-$cubes-$commits", cubes)
      val (before, known) = (rows(path), dataFiles(path))
      withSettings(settings: _*) {
        val error = failing(ThrowingLogStore.before(refused))(optimize(path))
        assert(conditionOf(error) === Some("ZCUBE_COMMIT_UNKNOWN"))
        assert(error.get.getMessage.contains("version 1"))
        assert(error.get.getMessage.contains("no connection to the store"))
        assert(error.get.getCause.isInstanceOf[IOException])
      }
      // Nothing was committed afterwards either.
      assert(version(path) === 0)
      assert(rows(path) === before)
      val kept = dataFiles(path) -- known
      assert(kept.size === (if (commits == "each") 1 else cubes))
      optimize(path)
      assert(rows(path) === before)
    }

  test("a commit whose version is somebody else's is none: the files go, the error stays") {
    val path = table("refused")
    val (before, known) = (rows(path), dataFiles(path))
    val error = failing(overtaken(refused))(optimize(path))
    assert(error.exists(_.getMessage.contains("no connection to the store")))
    assert(conditionOf(error) === None)
    assert(version(path) === 1)
    assert(dataFiles(path) === known)
    assert(rows(path) === before)
  }

  test("a commit after which the log can't be read keeps its files") {
    val path = table("blind")
    val before = rows(path)
    val fault = ThrowingLogStore.Fault { (lines, write) =>
      write(lines)
      ThrowingLogStore.listing.set(
        Some(ThrowingLogStore.Listing(_ => throw new IOException("no connection to list the log"))))
      throw exists
    }
    assert(conditionOf(failing(fault)(optimize(path))) === Some("ZCUBE_COMMIT_UNKNOWN"))
    assert(version(path) === 1)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
    assert(rows(path) === before)
  }

  for (isKnown <- Seq(true, false))
    test(s"files of deleted rows that another writer removes, whose commit names it: $isKnown") {
      val path = folder.resolve(s"deleted-$isKnown").toString
      // Without row counts, Delta doesn't notice that all rows are deleted.
      withSettings("spark.databricks.delta.stats.collect" -> "false") {
        spark.range(0, 10, 1, 2).selectExpr("id", "id AS x").write.format("delta")
          .option("delta.enableDeletionVectors", "true").save(path)
        spark.sql(s"DELETE FROM delta.`$path` WHERE id >= 0")
      }
      val fault = ThrowingLogStore.Fault { (_, write) =>
        val files = DeltaLog.forTable(spark, path).unsafeVolatileSnapshot.allFiles.collect()
        assert(files.length === 2)
        val writer = if (isKnown) OthersCommit else OthersCommit.replace(",\"txnId\":\"other\"", "")
        write(Iterator(writer) ++ files.iterator.map(_.remove.json))
        throw exists
      }
      val error = failing(fault)(optimize(path))
      if (isKnown) assert(error.exists(_.isInstanceOf[ConcurrentDeleteReadException]))
      else assert(conditionOf(error) === Some("ZCUBE_COMMIT_UNKNOWN"))
    }

  test("a conflict that is real: Delta's own exception, and no file is left") {
    val path = table("conflict")
    val known = dataFiles(path)
    val fault = ThrowingLogStore.Fault { (_, write) =>
      val remove = DeltaLog.forTable(spark, path).unsafeVolatileSnapshot.allFiles.head().remove
      write(Iterator(OthersCommit, remove.json))
      throw exists
    }
    val error = failing(fault)(optimize(path))
    assert(error.exists(_.isInstanceOf[ConcurrentDeleteReadException]))
    assert(dataFiles(path) === known)
  }

  // This coordinator's commits stay in its own folder, which a plain listing doesn't show.
  for {
    (name, lands, error) <- Seq(
      ("try again", true, () => new CommitFailedException(true, false, "a test's")),
      ("failed", true, () => new CommitFailedException(false, false, "a test's")),
      ("connection lost", true, () => lost),
      ("connection lost", false, () => lost)
    ) ++ Night.only(("conflict", true, () => new CommitFailedException(true, true, "a test's")))
  } test(s"a commit coordinator that answers '$name', taken: $lands") {
    val path = folder.resolve(s"coordinated-${name.hashCode}-$lands").toString
    registered
    spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, x INT) USING delta TBLPROPERTIES (" +
      s"'delta.coordinatedCommits.commitCoordinator-preview' = '${ThrowingCoordinator.getName}', " +
      "'delta.coordinatedCommits.commitCoordinatorConf-preview' = '{}')")
    spark.range(0, 1000, 1, 2).selectExpr("id", "hash(id) AS x")
      .write.format("delta").mode("append").save(path)
    val (before, known) = (rows(path), dataFiles(path))
    ThrowingCoordinator.instead.set(Some((lands, error())))
    val end = Caught(optimize(path)).failed.toOption
    assert(ThrowingCoordinator.instead.get.isEmpty)
    if (lands) assert(end.isEmpty, end)
    else assert(conditionOf(end) === Some("ZCUBE_COMMIT_UNKNOWN"))
    assert(version(path) === (if (lands) 2 else 1))
    assert(rows(path) === before)
    if (lands) assert(liveFiles(path) === dataFiles(path) -- known)
    else assert(liveFiles(path) === known)
  }

  test("an empty version isn't proof that somebody else committed") {
    val path = table("empty")
    val known = dataFiles(path)
    val fault = ThrowingLogStore.Fault { (_, write) =>
      write(Iterator.empty)
      throw lost
    }
    assert(conditionOf(failing(fault)(optimize(path))) === Some("ZCUBE_COMMIT_UNKNOWN"))
    assert(dataFiles(path).size > known.size)
  }

  if (Night.all) test("a commit after an empty version is found") {
    val path = table("after-empty")
    val before = rows(path)
    val fault = ThrowingLogStore.Fault { (_, write) =>
      write(Iterator.empty)
      ThrowingLogStore.instead.set(Some(ThrowingLogStore.after(lost)))
      throw new FileAlreadyExistsException("0…1.json")
    }
    assert(failing(fault)(optimize(path)).isEmpty)
    assert(version(path) === 2)
    assert(liveFiles(path).subsetOf(dataFiles(path)))
    assert(rows(path) === before)
  }

  for {
    landed <- Seq(true, false)
    batched <- landed +: Night.only(!landed)
  } test(s"an interrupt of the commit itself; written: $landed, batched: $batched") {
    val path = table(s"interrupted-commit-$landed-$batched", 2)
    val before = rows(path)
    val caller = Thread.currentThread()
    val fault = ThrowingLogStore.Fault { (lines, write) =>
      if (landed) write(lines)
      caller.interrupt()
      Thread.sleep(60000)
    }
    val error = withSettings(Seq(BatchSize -> "1g").filter(_ => batched): _*) {
      failing(fault)(optimize(path))
    }
    if (landed) assert(error.exists(_.isInstanceOf[InterruptedException]))
    else assert(conditionOf(error) === Some("ZCUBE_COMMIT_UNKNOWN"))
    assert(version(path) === (if (landed) 1 else 0))
    assert(liveFiles(path).subsetOf(dataFiles(path)))
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
  for ((batched, partitions) <- (false, 2) +: Night.only((true, 2), (false, 1), (true, 1)))
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
          // Spark reports a task's end somewhat later; files are looked at after that.
          eventually(timeout(Span(30, Seconds)))(assert(writes.running === 0))
        }
      finally {
        spark.sparkContext.removeSparkListener(writes)
        spark.conf.unset(BatchSize)
        spark.conf.unset(MaxFileSize)
      }
      assert(!run.isAlive)
      assert(writes.endedWell > 0)
      assert(outcome.exists(_.isInstanceOf[InterruptedException]))
      assert(tagsAfter.isEmpty)
      assert(DeltaLog.forTable(spark, path).update().version === 0)
      assert(dataFiles(path) === known)
      assert(rows(path) === before)
    }

  /** Interrupts a thread when the first writing task has succeeded. */
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
  private val LastVersion = "spark.databricks.delta.lastCommitVersionInSession"
  private val Idempotency = "spark.databricks.delta.commit.idempotencyCheck.enabled"

  private val OthersCommit =
    """{"commitInfo":{"timestamp":0,"operation":"OTHER","operationParameters":{},"txnId":"other"}}"""

  private val BatchSize = "spark.databricks.delta.optimize.batchSize"

  private val MinCubeSize =
    "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold"

  private val MaxFileSize = "spark.databricks.delta.optimize.maxFileSize"

  // Tasks run in this JVM; they share state only through an object.
  @volatile private var jobsOver = new CountDownLatch(0)

  /** Withholds all but the first rows from the writer until the job has returned to its caller. */
  private val waitForJob: Any => Any = (id: Any) => {
    if (id.asInstanceOf[Long] >= 1500) Uninterrupted.await(jobsOver)
    true
  }
}
