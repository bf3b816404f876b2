package org.apache.spark.sql.zcube

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._

import io.zcube.sql.jobs.JobProperties

/** Measures the executors' CPU time for the Spark jobs of some code. Jobs are identified by a local
  * property, which Spark passes to the threads that a query starts.
  *
  * It uses one event per stage and not one per task, so that large jobs cost no more than small
  * ones.
  */
final class JobCpuTime(context: SparkContext) extends SparkListener {
  import JobCpuTime._

  /** The state of the jobs with one key. */
  private class Account {
    val stages: java.util.Set[Int] = ConcurrentHashMap.newKeySet[Int]()
    val nanos = new java.util.concurrent.atomic.AtomicLong
    val heardAll = new CountDownLatch(1)
  }

  private val accounts = new ConcurrentHashMap[String, Account]()

  ListenerQueue.add(context, this)

  /** Stops receiving events. */
  def close(): Unit = ListenerQueue.remove(context, this)

  /** Runs `body` and returns the CPU milliseconds of its jobs, or None if Spark's events lag too
    * far behind.
    *
    * @param key a key that no other current jobs of this context have
    */
  def of[T](key: String)(body: => T): (T, Option[Long]) = {
    val account = new Account
    accounts.put(key, account)
    try {
      val result = JobProperties.within(context, Property -> key)(body)
      (result, Option.when(caughtUp(account, key))(account.nanos.get / 1000000))
    } finally accounts.remove(key): Unit
  }

  private def caughtUp(account: Account, key: String): Boolean =
    try {
      context.listenerBus.post(ListenerMarker(key))
      account.heardAll.await(PatienceMs, TimeUnit.MILLISECONDS)
    } catch {
      // A failure to measure must not fail completed work.
      case NonFatal(_) => false
    }

  override def onJobStart(event: SparkListenerJobStart): Unit =
    accountOf(event).foreach(_.stages.addAll(event.stageIds.asJava))

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit = {
    val info = event.stageInfo
    Option(info.taskMetrics).foreach { metrics =>
      accounts.values.forEach { account =>
        if (account.stages.contains(info.stageId)) {
          account.nanos.addAndGet(metrics.executorCpuTime): Unit
        }
      }
    }
  }

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case ListenerMarker(key) => Option(accounts.get(key)).foreach(_.heardAll.countDown())
    case _ =>
  }

  private def accountOf(event: SparkListenerJobStart): Option[Account] = for {
    properties <- Option(event.properties)
    key <- Option(properties.getProperty(Property))
    account <- Option(accounts.get(key))
  } yield account
}

object JobCpuTime {
  private val Property = "spark.zcube.cpuTimeOf"

  /** A metric isn't worth waiting longer for. */
  private val PatienceMs = 2000L
}
