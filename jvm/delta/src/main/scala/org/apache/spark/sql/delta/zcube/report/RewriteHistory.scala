package org.apache.spark.sql.delta.zcube.report

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.zcube.plan.OptimizeTask

/** What earlier runs of OPTIMIZE on a table cost, by the metrics of their commits.
  *
  * @param runs      commits that tell their CPU time
  * @param cpuTimeMs of all of them
  * @param bytes     that they read
  */
final case class RewriteHistory(runs: Int, cpuTimeMs: Long, bytes: Long) {

  /** The CPU time of reading and writing so many bytes at the rate of the earlier runs, in ms; None if
    * there were none.
    */
  def cpuTimeOf(rewritten: Long): Option[Long] =
    Option.when(bytes > 0)(math.round(cpuTimeMs.toDouble / bytes * rewritten))
}

object RewriteHistory {

  /** Commits to look at: enough to find an OPTIMIZE among many small appends. */
  private val Commits = 500

  /** The newest runs count, as data, columns and machines change. */
  private val Runs = 20

  /** Reads the newest commits of the log. */
  def of(session: SparkSession, task: OptimizeTask): RewriteHistory = session.withActive {
    val costs = task.snapshot.deltaLog.history
      .getHistory(Some(Commits), task.catalogTable)
      .filter(_.operation == "OPTIMIZE")
      .flatMap { commit =>
        val metrics = commit.operationMetrics.getOrElse(Map.empty)
        for {
          cpu <- metrics.get("cpuTimeMs").flatMap(_.toLongOption)
          bytes <- metrics.get("numRemovedBytes").flatMap(_.toLongOption)
          if cpu > 0 && bytes > 0
        } yield (cpu, bytes)
      }
      .take(Runs)
    RewriteHistory(costs.size, costs.map(_._1).sum, costs.map(_._2).sum)
  }
}
