package org.apache.spark.sql.zcube

import java.util.Properties

import scala.annotation.tailrec
import scala.util.{Failure, Success}

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.SparkListener

import io.zcube.concurrent.Caught

/** The queue of all of ZCube's listeners, so that slow listeners of others don't delay them. */
object ListenerQueue {
  private val Name = "zcube"

  def add(context: SparkContext, listener: SparkListener): Unit =
    context.listenerBus.addToQueue(listener, Name)

  /** Whether the jobs with these properties have a tag. */
  def isTagged(properties: Properties, tag: String): Boolean = {
    val tags = Option(properties).flatMap(p => Option(p.getProperty(SparkContext.SPARK_JOB_TAGS)))
    tags.exists(_.split(SparkContext.SPARK_JOB_TAGS_SEP).contains(tag))
  }

  /** An interrupt while Spark removes a queue's last listener leaves a queue that can't be stopped:
    * the next attempt waits forever. So this runs on a thread that is never interrupted.
    */
  def remove(context: SparkContext, listener: SparkListener): Unit = {
    val removal = new Thread(() => context.removeSparkListener(listener), "ZCubeListenerRemoval")
    removal.setDaemon(true)
    removal.start()
    if (join(removal, interrupted = false)) Thread.currentThread().interrupt()
  }

  @tailrec
  private def join(thread: Thread, interrupted: Boolean): Boolean =
    Caught(thread.join()) match {
      case Success(_) => interrupted
      case Failure(_) => join(thread, interrupted = true)
    }
}
