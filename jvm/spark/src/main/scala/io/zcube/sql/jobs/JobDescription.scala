package io.zcube.sql.jobs

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
