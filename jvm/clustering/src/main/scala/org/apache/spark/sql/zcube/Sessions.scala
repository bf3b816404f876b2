package org.apache.spark.sql.zcube

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}

/** Session operations that are private to Spark. */
object Sessions {

  /** A clone with separate settings, but with the catalog and the caches of the original. */
  def cloneOf(session: SparkSession): SparkSession = session.cloneSession()

  /** Runs `body` with the session active on the calling thread. */
  def within[T](session: SparkSession)(body: => T): T = session.withActive(body)

  /** The plan with its names and types resolved.
    *
    * @throws org.apache.spark.sql.AnalysisException if they can't be
    */
  def analyzed(session: SparkSession, plan: LogicalPlan): LogicalPlan =
    session.sessionState.executePlan(plan).analyzed

  /** An analyzed plan as the optimizer leaves it. A query's execution would first look for parts of it
    * in the user's cache, which hide the tables that they are from.
    */
  def optimizedUncached(session: SparkSession, analyzed: LogicalPlan): LogicalPlan =
    session.sessionState.optimizer.execute(analyzed.clone())

  /** A DataFrame for a plan, which need not be analyzed yet. */
  def rowsOf(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)
}
