package org.apache.spark.sql.zcube

import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.concurrent.TimeoutException
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler._
import org.apache.spark.util.{CollectionAccumulator, ThreadUtils}

import io.zcube.concurrent.DeferredInterrupt

/** The tasks of the Spark jobs that write a transaction's files.
  *
  * A job that fails or is cancelled is over for its caller while tasks of it still run, and such a task
  * may yet end well: its files are in no result then, and Spark updates no accumulator for it. Only the
  * event of its end still names them. So after a failure this waits for the last task's end, and takes
  * the files from the events. Those of the usual tasks are in them too, and so twice in `made`.
  *
  * @param made full paths of files as tasks make them; registered so that failed tasks count as well
  */
final class WriteTaskTracker(context: SparkContext, made: CollectionAccumulator[String])
    extends SparkListener
    with Logging {
  import WriteTaskTracker._

  private val tag = s"zcube-write-${UUID.randomUUID()}"
  private val stages = ConcurrentHashMap.newKeySet[Int]()
  private val running = ConcurrentHashMap.newKeySet[Long]()
  private val heardAll = new CountDownLatch(1)

  /** Runs `body`, which writes. If it throws then no task of it is left, or it took too long. */
  def within[T](body: => T): T = {
    ListenerQueue.add(context, this)
    try {
      context.addJobTag(tag)
      try body
      finally context.removeJobTag(tag)
    } catch {
      case e: Throwable =>
        awaitEnd()
        throw e
    } finally ListenerQueue.remove(context, this)
  }

  /** Not to be cut short by an interrupt: what is removed next must not be written any more. */
  private def awaitEnd(): Unit = DeferredInterrupt.within {
    try {
      val deadline = Patience.fromNow
      // An interrupt ends the caller's waiting, not the job. By the scheduler's first answer no more
      // tasks begin; by its second it has told the listeners of those that began just before.
      for (_ <- 1 to 2) {
        val cancelled = context.cancelJobsWithTagWithFuture(tag, "the write failed")
        ThreadUtils.awaitReady(cancelled, Patience): Unit
      }
      context.listenerBus.post(ListenerMarker(tag))
      heardAll.await(deadline.timeLeft.toMillis, TimeUnit.MILLISECONDS)
      while (!running.isEmpty && deadline.hasTimeLeft()) Thread.sleep(PollMs)
      if (heardAll.getCount > 0 || !running.isEmpty) {
        logWarning(s"ZCube: tasks of a failed write may still run after $Patience " +
          "(see Spark's UI); what they write is left to VACUUM")
      }
    } catch {
      case e @ (NonFatal(_) | _: TimeoutException) =>
        logWarning("ZCube: it isn't known when the tasks of a failed write end", e)
    }
  }

  override def onJobStart(event: SparkListenerJobStart): Unit = {
    val tags =
      Option(event.properties).flatMap(p => Option(p.getProperty(SparkContext.SPARK_JOB_TAGS)))
    if (tags.exists(_.split(SparkContext.SPARK_JOB_TAGS_SEP).contains(tag))) {
      stages.addAll(event.stageIds.asJava): Unit
    }
  }

  override def onTaskStart(event: SparkListenerTaskStart): Unit =
    if (stages.contains(event.stageId)) running.add(event.taskInfo.taskId): Unit

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    if (stages.contains(event.stageId)) {
      // Of a task whose executor is gone there are none.
      Option(event.taskMetrics).foreach(_.withExternalAccums(_.foreach {
        case files: CollectionAccumulator[String @unchecked] if files.id == made.id =>
          made.merge(files)
        case _ =>
      }))
      running.remove(event.taskInfo.taskId): Unit
    }

  override def onOtherEvent(event: SparkListenerEvent): Unit =
    if (event == ListenerMarker(tag)) heardAll.countDown()
}

object WriteTaskTracker {

  /** Tasks check for interruption after every row, so a minute is ample. */
  private val Patience = 1.minute

  private val PollMs = 10L
}
