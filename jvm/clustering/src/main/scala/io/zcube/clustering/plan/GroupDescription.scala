package io.zcube.clustering.plan

/** Describes a group that is rewritten, in log lines and Spark jobs, for example `t: OPTIMIZE by
  * (x, y), cube 1 of 4, 12 files, 5000 bytes in partition (p=1)`.
  */
object GroupDescription {

  /** @param groups the groups that share the job */
  def ofJob(task: OptimizeTask, groups: Seq[RewriteGroup]): String = {
    val cubes = groups.map(_.cubes).sum
    val where = place(groups) + (if (cubes == 1) "" else s", $cubes in one job")
    val label = if (groups.size == 1) groups.head.label else ""
    s"${task.tableName}: ${statement(task)}, $where, ${groups.map(_.files.size).sum} files, " +
      s"${groups.map(_.storedBytes).sum} bytes$label"
  }

  def ofForecast(task: OptimizeTask, group: RewriteGroup): String =
    s"${task.tableName}: forecast of ${statement(task)}, ${place(Seq(group))}"

  /** `cube 1 of 4 in partition (p=1)` */
  def inLog(group: RewriteGroup): String = place(Seq(group)) + group.label

  private def statement(task: OptimizeTask): String =
    task.columns.map(_.name).mkString("OPTIMIZE by (", ", ", ")")

  private def place(groups: Seq[RewriteGroup]): String = {
    val first = groups.map(_.number).min
    val last = groups.map(group => group.number + group.cubes - 1).max
    val cubes = if (first == last) s"cube $first" else s"cubes $first to $last"
    s"$cubes of ${groups.head.total}"
  }
}
