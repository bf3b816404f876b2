package org.apache.spark.sql.delta.zcube

/** What became of a planned cube. */
sealed trait CubeOutcome {
  def group: FileGroup
}

object CubeOutcome {

  /** @param version      the table's version that has it
    * @param committingMs milliseconds of its commit, other attempts included
    */
  final case class Committed(rewritten: RewrittenGroup, version: Long, committingMs: Long)
      extends CubeOutcome {
    override def group: FileGroup = rewritten.group
  }

  /** A concurrent change took files of it away; nothing of it was committed. */
  final case class Dropped(group: FileGroup, conflict: Exception) extends CubeOutcome

  /** Time was up before it began. */
  final case class NotStarted(group: FileGroup) extends CubeOutcome
}
