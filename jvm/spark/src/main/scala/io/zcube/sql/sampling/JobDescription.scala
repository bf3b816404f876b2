package io.zcube.sql.sampling

import org.apache.spark.SparkContext

/** Describes a job's purpose in the Spark UI and the event log. */
object JobDescription {

  /** Runs `body` with `description` on its jobs and stages, then restores the previous description.
    * The details of a stage stay a stack trace.
    */
  def within[T](context: SparkContext, description: String)(body: => T): T =
    JobProperties.within(
      context,
      "spark.job.description" -> description,
      "callSite.short" -> description)(body)
}

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
