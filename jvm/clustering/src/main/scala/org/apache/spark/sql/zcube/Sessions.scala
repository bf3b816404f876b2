package org.apache.spark.sql.zcube

import java.io.File

import scala.util.control.NonFatal

import org.apache.spark.SparkFiles
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.Utils

import io.zcube.concurrent.DeferredInterrupt

/** Session operations that are private to Spark. */
object Sessions extends Logging {

  /** A clone with separate settings, but with the catalog and the caches of the original. To be closed
    * when nothing uses it any more.
    */
  def cloneOf(session: SparkSession): SparkSession = {
    val clone = session.cloneSession()
    sameSettings(session.sessionState.conf, clone.sessionState.conf)
    clone
  }

  /** With `spark.sql.legacy.sessionInitWithConfigDefaults`, Spark gives a clone the application's
    * settings over those of the session.
    */
  private def sameSettings(from: SQLConf, to: SQLConf): Unit = {
    val (wanted, found) = (from.getAllConfs, to.getAllConfs)
    (found.keySet -- wanted.keySet).foreach(to.unsetConf)
    wanted.foreach { case (key, value) =>
      if (!found.get(key).contains(value)) to.setConfString(key, value)
    }
  }

  /** Runs `body` with a clone, and closes it. What interrupts all jobs of the original also interrupts
    * those of the clone (`SparkSession.interruptAll`), until the body runs a query of the original.
    */
  def using[T](session: SparkSession, clone: SparkSession)(body: SparkSession => T): T =
    try withTagOf(session)(body(clone))
    finally close(clone)

  /** The session's tag is on its thread while it runs a statement, but queries that the statement
    * runs remove it when they end.
    */
  private def withTagOf[T](session: SparkSession)(body: => T): T = {
    val (context, tag) = (session.sparkContext, session.sessionJobTag)
    if (context.getJobTags().contains(tag)) body
    else {
      context.addJobTag(tag)
      try body
      finally context.removeJobTag(tag)
    }
  }

  /** Frees what a clone has of the artifacts of its original: files, archives and cached rows that
    * clients of Spark Connect uploaded. Spark copies them for each clone, and holds cached rows until
    * each session that has them is closed.
    */
  def close(clone: SparkSession): Unit =
    // How the statement ended must be known, even if its thread was interrupted.
    try DeferredInterrupt.within {
        clone.artifactManager.close()
        // Where Spark has unpacked them for the clone's jobs.
        Utils.deleteRecursively(new File(SparkFiles.getRootDirectory(), clone.sessionUUID))
      }
    catch { case NonFatal(e) => logWarning("Artifacts of a session could not be removed", e) }

  /** Runs `body` with the session active on the calling thread, and with its settings: Spark may be
    * running the statement with others, as within EXECUTE IMMEDIATE.
    */
  def within[T](session: SparkSession)(body: => T): T =
    SQLConf.withExistingConf(session.sessionState.conf)(session.withActive(body))

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
