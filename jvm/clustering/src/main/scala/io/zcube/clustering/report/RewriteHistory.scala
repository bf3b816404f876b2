package io.zcube.clustering.report

import io.zcube.clustering.table.TableVersion

/** The cost of earlier OPTIMIZE runs on a table, from the metrics of their commits.
  *
  * @param runs      commits with a recorded CPU time
  * @param cpuTimeMs their total CPU time
  * @param bytes     total bytes that they read
  */
final case class RewriteHistory(runs: Int, cpuTimeMs: Long, bytes: Long) {

  /** The CPU milliseconds of rewriting this many bytes at the rate of the earlier runs; None if there were
    * none.
    */
  def cpuTimeOf(rewritten: Long): Option[Long] =
    Option.when(bytes > 0)(math.round(cpuTimeMs.toDouble / bytes * rewritten))
}

object RewriteHistory {

  val Empty: RewriteHistory = RewriteHistory(0, 0L, 0L)

  /** Only the newest runs count, because data, columns and machines change. */
  private val Runs = 20

  def of(version: TableVersion): RewriteHistory = {
    val costs = version.pastRewrites(Runs)
    RewriteHistory(costs.size, costs.map(_.cpuTimeMs).sum, costs.map(_.bytes).sum)
  }
}
