package org.apache.spark.sql.delta.zcube

import scala.util.Try
import scala.util.control.ControlThrowable

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.DeltaLog
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.concurrent.{Caught, Causes}

/** Errors that Scala's futures and `Try` don't catch: an OPTIMIZE still ends, cleans up, and
  * reports them.
  */
class FatalErrorsSuite extends AnyFunSuite with DeltaSparkSession {
  import FatalErrorsSuite._

  override protected def settings: Map[String, String] = Map(
    "spark.sql.shuffle.partitions" -> "1",
    "spark.databricks.delta.snapshotPartitions" -> "1",
    "spark.delta.logStore.file.impl" -> classOf[ThrowingLogStore].getName
  )

  private val rows = (0L until 300L).map(id => (id, id % 2))

  private def read(path: String): Seq[(Long, Long)] =
    spark.read.format("delta").load(path).collect().toSeq.map(r =>
      (r.getLong(0), r.getLong(1))).sorted

  /** How an OPTIMIZE of two cubes ends. */
  private def endOf(path: String): Try[Unit] = {
    @volatile var end: Option[Try[Unit]] = None
    val statement = new Thread(() =>
      end = Some(Caught(spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (id)").collect(): Unit)))
    statement.setDaemon(true)
    statement.start()
    statement.join(60000)
    end.getOrElse(fail("OPTIMIZE did not end"))
  }

  /** Runs `body` with `error` thrown at a place. */
  private def throwing[T](place: Place, error: Throwable)(body: => T): T = {
    // Thrown while the query of that step is planned, on the driver.
    def rule(isStep: LogicalPlan => Boolean) = new Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan =
        if (plan.exists(isStep)) throw error else plan
    }
    place match {
      case Sampling =>
        val isSample: LogicalPlan => Boolean = {
          case project: Project => project.projectList.exists(_.name == "c0")
          case _ => false
        }
        spark.experimental.extraOptimizations = Seq(rule(isSample))
      case Writing =>
        spark.experimental.extraOptimizations = Seq(rule(_.isInstanceOf[Sort]))
      case BeforeCommit => ThrowingLogStore.instead.set(Some(ThrowingLogStore.before(error)))
      case AfterCommit => ThrowingLogStore.instead.set(Some(ThrowingLogStore.after(error)))
    }
    try body
    finally {
      spark.experimental.extraOptimizations = Nil
      ThrowingLogStore.instead.set(None)
    }
  }

  // Each error at one of four places, in turns; `ZCUBE_TESTS=all`: at all of them.
  for {
    ((name, error), i) <- errors.zipWithIndex
    (place, j) <- places.zipWithIndex
    batched = (i + j) % 2 == 0
    if Night.all || (3 * i + j) % 4 == 0
  } test(s"$name ${place.when}; batched: $batched") {
    val path = folder.resolve(s"fatal-$i-$j").toString
    spark.range(0, 300, 1, 2).selectExpr("id", "id % 2 AS p").write.partitionBy("p")
      .format("delta").save(path)
    val known = dataFiles(path)
    val thrown = error()
    if (batched) spark.conf.set(BatchSize, "1g")
    val end =
      try throwing(place, thrown)(endOf(path))
      finally spark.conf.unset(BatchSize)
    val seen = end.failed.get
    assert(Causes.of(seen).contains(thrown), seen)
    DeltaLog.clearCache()
    val snapshot = DeltaLog.forTable(spark, path).update()
    assert(snapshot.version === (if (place == AfterCommit) 1 else 0))
    if (place == BeforeCommit) {
      assert(seen.asInstanceOf[SparkThrowable].getCondition === "ZCUBE_COMMIT_UNKNOWN")
    } else {
      val live = snapshot.allFiles.collect().map(_.path.split('/').last).toSet
      assert(dataFiles(path) === known ++ live)
    }
    assert(read(path) === rows)
    assert(endOf(path).isSuccess)
    assert(read(path) === rows)
  }
}

object FatalErrorsSuite {
  sealed abstract class Place(val when: String)
  case object Sampling extends Place("while sampling")
  case object Writing extends Place("while writing")
  case object BeforeCommit extends Place("before the commit is written")
  case object AfterCommit extends Place("after the commit is written")

  private val BatchSize = "spark.databricks.delta.optimize.batchSize"

  private val places = Seq(Sampling, Writing, BeforeCommit, AfterCommit)

  private val errors = Seq[(String, () => Throwable)](
    "OutOfMemoryError" -> (() => new OutOfMemoryError("a test's")),
    "NoClassDefFoundError" -> (() => new NoClassDefFoundError("a test's")),
    "StackOverflowError" -> (() => new StackOverflowError("a test's")),
    "InterruptedException" -> (() => new InterruptedException("a test's")),
    "ControlThrowable" -> (() => new ControlThrowable("a test's") {})
  )
}
