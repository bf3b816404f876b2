package io.zcube.clustering.plan

/** Describes a group that is rewritten, in log lines and Spark jobs, for example `t: OPTIMIZE by
  * (x, y), cube 1 of 4, 12 files, 5000 bytes in partition (p=1)`.
  *
  * Python's progress bar parses the job descriptions with the pattern in progress.py.
  */
object GroupDescription {

  /** @param groups the groups that share the job */
  def ofJob(task: OptimizeTask, groups: Seq[RewriteGroup]): String = {
    val (where, label) = groups match {
      case Seq(group) => (place(group), group.label)
      case _ =>
        val numbers = groups.map(_.number)
        val range = s"cubes ${numbers.min} to ${numbers.max} of ${groups.head.of}"
        (s"$range, ${groups.size} in one job", "")
    }
    s"${task.tableName}: ${statement(task)}, $where, ${groups.map(_.files.size).sum} files, " +
      s"${groups.map(_.bytes).sum} bytes$label"
  }

  def ofForecast(task: OptimizeTask, group: RewriteGroup): String =
    s"${task.tableName}: forecast of ${statement(task)}, ${place(group)}"

  /** `cube 1 of 4 in partition (p=1)` */
  def inLog(group: RewriteGroup): String = place(group) + group.label

  private def statement(task: OptimizeTask): String =
    task.columns.map(_.name).mkString("OPTIMIZE by (", ", ", ")")

  private def place(group: RewriteGroup): String = s"cube ${group.number} of ${group.of}"
}
