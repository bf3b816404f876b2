package io.zcube.clustering.run

import io.zcube.clustering.plan.{RewriteGroup, RewritePlan}

/** What became of a planned cube. */
sealed trait GroupOutcome {
  def group: RewriteGroup
}

object GroupOutcome {

  /** @param version      the table's version that has it
    * @param committingMs milliseconds of its commit, other attempts included
    */
  final case class Committed(rewritten: RewriteResult, version: Long, committingMs: Long)
      extends GroupOutcome {
    override def group: RewriteGroup = rewritten.group
  }

  /** A concurrent change removed some of its files; nothing of it was committed. */
  final case class Dropped(group: RewriteGroup, conflict: Exception) extends GroupOutcome

  /** Time was up before it began. */
  final case class NotStarted(group: RewriteGroup) extends GroupOutcome
}

/** What a run planned, and what became of it.
  *
  * @param startedAt milliseconds since 1970
  */
final case class RunResult(plan: RewritePlan, outcomes: Seq[GroupOutcome], startedAt: Long)
