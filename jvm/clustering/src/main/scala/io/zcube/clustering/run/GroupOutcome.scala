package io.zcube.clustering.run

import io.zcube.clustering.plan.{RewriteGroup, RewritePlan}

/** The outcome of a planned group. */
sealed trait GroupOutcome {
  def group: RewriteGroup
}

object GroupOutcome {

  /** @param version      the table version that contains it
    * @param committingMs milliseconds of its commit, including other attempts
    */
  final case class Committed(rewritten: RewriteResult, version: Long, committingMs: Long)
      extends GroupOutcome {
    override def group: RewriteGroup = rewritten.group
  }

  /** A concurrent change removed some of its files; nothing of it was committed. */
  final case class Dropped(group: RewriteGroup, conflict: Exception) extends GroupOutcome

  /** Time ran out before it started. */
  final case class NotStarted(group: RewriteGroup) extends GroupOutcome
}

/** A run's plan and the outcomes.
  *
  * @param startedAt milliseconds since 1970
  */
final case class RunResult(plan: RewritePlan, outcomes: Seq[GroupOutcome], startedAt: Long) {

  /** The result of both passes of a statement. */
  def and(second: RunResult): RunResult = {
    // What conflicts dropped stays; what has not started is left.
    val taken = second.outcomes.filter {
      case GroupOutcome.Dropped(_, _) => false
      case _ => true
    }
    copy(
      plan = plan.without(taken.iterator.flatMap(_.group.files).map(_.path).toSet),
      outcomes = outcomes ++ second.outcomes)
  }

  /** @throws java.util.ConcurrentModificationException if conflicts are all that came of it */
  def orConflict: RunResult = {
    if (committed.isEmpty) conflicts.headOption.foreach(throw _)
    this
  }

  def conflicts: Seq[Exception] =
    outcomes.collect { case GroupOutcome.Dropped(_, conflict) => conflict }

  /** Live bytes that were rewritten, and those that a conflict dropped, rewritten or not. */
  def begunBytes: Long = outcomes.map {
    case GroupOutcome.NotStarted(_) => 0L
    case begun => begun.group.liveBytes
  }.sum

  /** The number of files that jobs wrote over each other, and no second pass regrouped. */
  def overlapping: Int = {
    val marked = committed.flatMap(_.cubes).filter(_.overlapping.isDefined).flatMap(_.files)
    val regrouped = committed.iterator.flatMap(_.removed).map(_.path).toSet
    marked.count(file => !regrouped(file.path))
  }

  def committed: Seq[RewriteResult] =
    outcomes.collect { case GroupOutcome.Committed(rewritten, _, _) => rewritten }
}
