package org.apache.spark.sql.delta.zcube.write

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.delta.stats.DeltaJobStatisticsTracker
import org.apache.spark.sql.execution.datasources.WriteTaskStatsTracker
import org.apache.spark.util.SerializableConfiguration

/** Delta's statistics collection for a writing job, with cheaper tasks. */
final class StatsTracker(
    @transient conf: Configuration,
    @transient root: Path,
    columns: Seq[Attribute],
    statistics: Expression)
    extends DeltaJobStatisticsTracker(conf, root, columns, statistics) {

  private val confOfTasks = new SerializableConfiguration(conf)
  private val rootOfTasks = root.getFileSystem(conf).makeQualified(root).toUri

  override def newTaskInstance(): WriteTaskStatsTracker =
    new TaskStatsTracker(
      dataCols,
      prepareForEval(statsColExpr),
      new Path(rootOfTasks),
      confOfTasks.value)
}
