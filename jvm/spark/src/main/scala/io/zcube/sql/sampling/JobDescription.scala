package io.zcube.sql.sampling

import org.apache.spark.SparkContext

/** Says in the Spark UI and the event log what a job is for. */
object JobDescription {
  private val Keys = Seq("spark.job.description", "callSite.short", "callSite.long")

  /** Runs `body` with `description` on its jobs and stages; what was set before is set again. */
  def within[T](context: SparkContext, description: String)(body: => T): T = {
    val before = Keys.map(key => key -> context.getLocalProperty(key))
    context.setJobDescription(description)
    context.setCallSite(description)
    try body
    finally before.foreach { case (key, value) => context.setLocalProperty(key, value) }
  }
}
