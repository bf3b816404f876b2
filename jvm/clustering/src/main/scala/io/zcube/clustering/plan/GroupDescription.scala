package io.zcube.clustering.plan

/** What log lines and Spark's jobs say of a group that is rewritten, for example
  * `t: OPTIMIZE by (x, y), cube 1 of 4, 12 files, 5000 bytes in partition (p=1)`.
  *
  * Python's progress bar reads the jobs' descriptions, by the pattern in progress.py.
  */
object GroupDescription {

  def ofJob(task: OptimizeTask, group: RewriteGroup): String =
    s"${task.tableName}: ${statement(task)}, ${place(group)}, ${group.files.size} files, " +
      s"${group.bytes} bytes${group.label}"

  def ofForecast(task: OptimizeTask, group: RewriteGroup): String =
    s"${task.tableName}: forecast of ${statement(task)}, ${place(group)}"

  /** `cube 1 of 4 in partition (p=1)` */
  def inLog(group: RewriteGroup): String = place(group) + group.label

  private def statement(task: OptimizeTask): String =
    task.columns.map(_.name).mkString("OPTIMIZE by (", ", ", ")")

  private def place(group: RewriteGroup): String = s"cube ${group.number} of ${group.of}"
}
