package io.zcube.clustering.plan

import io.zcube.planning.DataFile

/** What the second pass of an OPTIMIZE has to do: it regroups what the first one, or an earlier
  * statement, had to divide into jobs whose cubes overlap.
  */
object SecondPass {

  /** The plan of both passes, for DRY RUN. If the first pass makes jobs that overlap, what the second
    * one does with them isn't known yet, and isn't included.
    */
  def planOf(task: OptimizeTask): RewritePlan = {
    val first = RewritePlan.of(task.copy(pass = OptimizePass.First))
    val left = waiting(first, Iterator.empty)
    if (isDivided(first) || !mayFindWork(task, first, left)) first
    else taskOf(task, left, first.groups.map(_.liveBytes).sum).fold(first)(again =>
      first.and(RewritePlan.of(again)))
  }

  /** The bytes that a second pass rewrites besides, at most. */
  def unplannedBytes(task: OptimizeTask, plan: RewritePlan): Long = {
    val left = waiting(plan, Iterator.empty)
    if (!isDivided(plan) || !mayFindWork(task, plan, left)) 0L
    else {
      val rewritten = plan.groups.iterator.flatMap(_.files).map(_.path).toSet
      val marked = plan.groups.filter(_.planned.overlapping).map(_.storedBytes).sum +
        plan.considered.iterator.filter(f => isMarked(f) && !rewritten(f.path))
          .map(_.storedBytes).sum
      budget(task, plan.groups.map(_.liveBytes).sum).fold(0L)(math.min(marked, _))
    }
  }

  private def isDivided(plan: RewritePlan) = plan.groups.exists(_.planned.overlapping)

  private def isMarked(file: DataFile) =
    file.cube.exists(cube => cube.matches && cube.overlapping.isDefined)

  /** The partitions that are clustered in part, because of a budget or a conflict of what is to be
    * regrouped. Regrouping waits for the rest.
    *
    * @param plan    of the first pass
    * @param dropped files of its groups that are to be regrouped, and were dropped by a conflict
    */
  def waiting(plan: RewritePlan, dropped: Iterator[DataFile]): Set[Map[String, String]] = {
    val over = plan.plan.overBudget.iterator.map(_.file).filterNot(_.cube.exists(_.matches))
    (over ++ dropped).map(_.partition).toSet
  }

  /** Whether there may be something to regroup once a plan of the first pass is carried out. */
  def mayFindWork(
      task: OptimizeTask,
      plan: RewritePlan,
      waiting: Set[Map[String, String]]): Boolean =
    task.regroups && (isDivided(plan) || plan.plan.hasRegions) && (waiting.isEmpty || {
      val divided = plan.groups.iterator.filter(_.planned.overlapping).flatMap(_.files)
      (divided ++ plan.considered.iterator.filter(isMarked)).exists(f => !waiting(f.partition))
    })

  /** The task of the second pass; None if the first one used up the budget.
    *
    * @param spent live bytes that the first one rewrote
    */
  def taskOf(
      task: OptimizeTask,
      waiting: Set[Map[String, String]],
      spent: Long): Option[OptimizeTask] =
    budget(task, spent).map { left =>
      val maxBytes = task.planOptions.maxBytes.map(_ => left)
      task.copy(
        options = task.options.copy(maxBytes = maxBytes),
        pass = OptimizePass.Second(waiting))
    }

  /** What the first pass leaves for the second; None if that makes no cube that stays. */
  private def budget(task: OptimizeTask, spent: Long): Option[Long] = {
    val left = task.planOptions.maxBytes.fold(Long.MaxValue)(_ - spent)
    Option.when(left >= math.max(1L, task.planOptions.minCubeBytes))(left)
  }
}
