package io.zcube.sql.sampling

import org.apache.spark.SparkContext

/** Describes a job's purpose in the Spark UI and the event log. */
object JobDescription {
  private val Keys = Seq("spark.job.description", "callSite.short", "callSite.long")

  /** Runs `body` with `description` on its jobs and stages, then restores the previous description.
    */
  def within[T](context: SparkContext, description: String)(body: => T): T = {
    val before = Keys.map(key => key -> context.getLocalProperty(key))
    context.setJobDescription(description)
    context.setCallSite(description)
    try body
    finally before.foreach { case (key, value) => context.setLocalProperty(key, value) }
  }
}
