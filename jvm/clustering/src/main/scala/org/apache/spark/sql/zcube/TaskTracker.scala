package org.apache.spark.sql.zcube

import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler._
import org.apache.spark.util.{CollectionAccumulator, ThreadUtils}

import io.zcube.concurrent.DeferredInterrupt

/** Tracks the tasks of the Spark jobs that write files: a transaction's, or manifests.
  *
  * A failed or cancelled job returns to its caller while some of its tasks still run, and such a
  * task may still succeed. Then its files are in no result, and Spark updates no accumulator for
  * it; only its end event names them. So after a failure this waits for the end of the last task,
  * and takes the files from the events. The events include the files of normal tasks too, which are
  * therefore in `made` twice.
  *
  * @param made full paths of the files that tasks create, if they are to be collected; registered so
  *   that failed tasks count as well
  */
final class TaskTracker(context: SparkContext, made: Option[CollectionAccumulator[String]])
    extends SparkListener
    with Logging {
  import TaskTracker._

  private val tag = s"zcube-write-${UUID.randomUUID()}"
  private val stages = ConcurrentHashMap.newKeySet[Int]()
  private val running = ConcurrentHashMap.newKeySet[Long]()
  private val heardAll = new CountDownLatch(1)

  /** Runs `body`, which writes. When this throws, no task is running any more, unless waiting timed
    * out, or was interrupted.
    */
  def within[T](body: => T): T = {
    ListenerQueue.add(context, this)
    try {
      context.addJobTag(tag)
      try body
      finally context.removeJobTag(tag)
    } catch {
      case e: Throwable =>
        // A further interrupt ends the wait. It must not hide why the write failed.
        try awaitEnd()
        catch {
          case interrupt: InterruptedException =>
            e.addSuppressed(interrupt)
            Thread.currentThread().interrupt()
        }
        throw e
    } finally ListenerQueue.remove(context, this)
  }

  /** The interrupt that ended the write must not cut this short: files that are removed next must not
    * be written any more.
    */
  private def awaitEnd(): Unit = DeferredInterrupt.within {
    try {
      val deadline = Patience.fromNow
      // An interrupt ends the caller's wait, not the job. After the scheduler's first answer no
      // more tasks start; before its second, it has reported tasks that started just earlier to the
      // listeners.
      for (_ <- 1 to 2) {
        val cancelled = context.cancelJobsWithTagWithFuture(tag, "the write failed")
        ThreadUtils.awaitReady(cancelled, deadline.timeLeft.max(Duration.Zero)): Unit
      }
      context.listenerBus.post(ListenerMarker(tag))
      heardAll.await(deadline.timeLeft.toMillis, TimeUnit.MILLISECONDS)
      while (!running.isEmpty && deadline.hasTimeLeft()) Thread.sleep(PollMs)
      if (heardAll.getCount > 0 || !running.isEmpty) {
        logWarning(s"ZCube: tasks of a failed write may still run after $Patience " +
          "(see Spark's UI); VACUUM will remove data files that they write")
      }
    } catch {
      case NonFatal(e) =>
        logWarning("ZCube: can't determine when the tasks of a failed write end", e)
    }
  }

  override def onJobStart(event: SparkListenerJobStart): Unit =
    if (ListenerQueue.isTagged(event.properties, tag)) stages.addAll(event.stageIds.asJava): Unit

  override def onTaskStart(event: SparkListenerTaskStart): Unit =
    if (stages.contains(event.stageId)) running.add(event.taskInfo.taskId): Unit

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    if (stages.contains(event.stageId)) {
      // A task whose executor is lost has none.
      for (all <- made; metrics <- Option(event.taskMetrics)) metrics.withExternalAccums(_.foreach {
        case files: CollectionAccumulator[String @unchecked] if files.id == all.id =>
          all.merge(files)
        case _ =>
      })
      running.remove(event.taskInfo.taskId): Unit
    }

  override def onOtherEvent(event: SparkListenerEvent): Unit =
    if (event == ListenerMarker(tag)) heardAll.countDown()
}

object TaskTracker {

  /** Tasks check for interruption after every row, so a minute is ample. */
  private val Patience = 1.minute

  private val PollMs = 10L
}
