package org.apache.spark.sql.zcube

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.scheduler._

/** What Spark tells its listeners while something runs. */
object SparkEvents {

  /** Milliseconds; a machine may be busy. */
  private val Patience = 120000L

  /** What the body returns, once the listener has all events of what it did and none from before. */
  def within[T](context: SparkContext, listener: SparkListenerInterface)(body: => T): T = {
    context.listenerBus.waitUntilEmpty(Patience)
    context.addSparkListener(listener)
    try {
      val result = body
      context.listenerBus.waitUntilEmpty(Patience)
      result
    } finally context.removeSparkListener(listener)
  }

  /** What the body returns, and the descriptions of the jobs that it started, in their order; an empty
    * text for a job without one.
    */
  def jobsOf[T](context: SparkContext)(body: => T): (T, Seq[String]) = {
    val jobs = new ConcurrentLinkedQueue[String]
    val result = within(
      context,
      new SparkListener {
        override def onJobStart(job: SparkListenerJobStart): Unit =
          jobs.add(job.properties.getProperty("spark.job.description", "")): Unit
      }
    )(body)
    (result, jobs.asScala.toSeq)
  }
}
