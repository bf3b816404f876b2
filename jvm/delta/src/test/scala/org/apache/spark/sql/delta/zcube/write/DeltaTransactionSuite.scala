package org.apache.spark.sql.delta.zcube.write

import java.util.concurrent.CountDownLatch

import org.apache.spark.TaskContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerTaskEnd}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.zcube.{DeltaSparkSession, Uninterrupted}
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.concurrent.Causes

/** A write fails in one task while another is still running. */
class DeltaTransactionSuite extends AnyFunSuite with DeltaSparkSession {
  import DeltaTransactionSuite._

  /** Writes two partitions. The first fails when the second has written a row; the second continues
    * after the job has returned to its caller, and is then stopped or finishes. Removes the files,
    * and returns those that are left.
    */
  private def failingWrite(name: String, obeys: Boolean): Set[String] = {
    val path = folder.resolve(name).toString
    spark.range(0).toDF("id").write.format("delta").save(path)
    val before = dataFiles(path)
    val log = DeltaLog.forTable(spark, path)
    val txn = new DeltaTransaction(spark.sparkContext, log, None, log.update())
    jobOver = new CountDownLatch(1)
    begun = new CountDownLatch(1)
    @volatile var lateEnd = false
    val listener = new SparkListener {
      override def onJobEnd(event: SparkListenerJobEnd): Unit = jobOver.countDown()
      override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
        if (event.taskInfo.index == 1) lateEnd = true
    }
    spark.sparkContext.addSparkListener(listener)
    val session = spark.asInstanceOf[org.apache.spark.sql.classic.SparkSession]
    import session.implicits._
    val rows = session.range(0, 2, 1, 2).as[Long].mapPartitions { _ =>
      if (TaskContext.getPartitionId() == 0) {
        Uninterrupted.await(begun)
        throw new IllegalStateException("the first task fails")
      } else {
        // What follows ++ is evaluated after the first row is written.
        Iterator.single(1L) ++ {
          begun.countDown()
          awaitInterrupt()
          Uninterrupted.await(jobOver)
          if (obeys) TaskContext.get().killTaskIfInterrupted()
          Iterator.empty[Long]
        }
      }
    }.toDF("id")
    try {
      val error = intercept[Exception](txn.writeFiles(rows, None, isOptimize = true, Nil))
      assert(Causes.of(error).exists(_.getMessage.contains("the first task fails")))
      spark.sparkContext.listenerBus.waitUntilEmpty()
      assert(lateEnd, "the write was over before its last task")
      assert((dataFiles(path) -- before).isEmpty == obeys)
      txn.removeWrittenFiles()
      dataFiles(path) -- before
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  test("a task that is stopped after its job's end leaves no file") {
    assert(failingWrite("stopped", obeys = true).isEmpty)
  }

  // Spark marks it as killed only after its file is finished, and then doesn't remove the file.
  test("a task that succeeds after its job's end leaves no file") {
    assert(failingWrite("whole", obeys = false).isEmpty)
  }
}

object DeltaTransactionSuite {
  // Tasks run in this JVM; only through an object do they see the same.
  @volatile private var jobOver = new CountDownLatch(0)
  @volatile private var begun = new CountDownLatch(0)

  /** Waits for Spark's kill request, which might otherwise arrive while the file is being closed.
    */
  private def awaitInterrupt(): Unit =
    try {
      Thread.sleep(30000)
      throw new IllegalStateException("no order to stop")
    } catch { case _: InterruptedException => }
}
