package io.zcube.sql.jobs

import org.apache.spark.SparkContext

/** Local properties, which Spark passes to the jobs that a thread starts, and to the threads that
  * these jobs' queries start.
  */
object JobProperties {

  /** Runs `body` with some properties, then restores the previous ones. */
  def within[T](context: SparkContext, properties: (String, String)*)(body: => T): T = {
    val before = properties.map { case (key, _) => key -> context.getLocalProperty(key) }
    properties.foreach { case (key, value) => context.setLocalProperty(key, value) }
    try body
    finally before.foreach { case (key, value) => context.setLocalProperty(key, value) }
  }
}
