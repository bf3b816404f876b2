package io.zcube.clustering.run

import scala.util.control.NonFatal

import io.zcube.clustering.plan.{OptimizeTask, RewriteGroup, RewritePlan}
import io.zcube.clustering.table.FileStatistics
import io.zcube.quality.LayoutQuality

/** Quality of a run's groups, before and after, by the log's statistics.
  *
  * @param notMeasured is told why groups have none; with no groups, none of the run has
  */
final private[run] class GroupQualities(
    task: OptimizeTask,
    run: RewritePlan,
    notMeasured: (Seq[RewriteGroup], Throwable) => Unit) {
  import GroupQualities._

  /** By group number. Computed in one pass for all groups, because it reads metadata, and only once, also
    * if that fails.
    */
  private lazy val before: Map[Int, LayoutQuality] =
    try if (task.version.fileCount <= MaxFiles) ofAll else Map.empty
    catch {
      case NonFatal(e) =>
        notMeasured(Nil, e)
        Map.empty
    }

  private def ofAll: Map[Int, LayoutQuality] = {
    val groupOf = run.groups.flatMap(group => group.files.map(_.path -> group.number)).toMap
    run.selection
      .statistics(task.columns, Some(groupOf.keySet))
      .by(row => groupOf(row.getString(FileStatistics.Path)))
      .map { case (number, files) => number -> of(files) }
  }

  /** The results with their quality, before and after.
    *
    * @param added statistics of the new files of all results
    */
  def addedTo(results: Seq[RewriteResult])(added: => FileStatistics): Seq[RewriteResult] =
    try {
      val was = before
      if (!results.exists(result => was.contains(result.group.number))) results
      else {
        val groupOf =
          results.flatMap(result => result.added.map(_.path -> result.group.number)).toMap
        val statistics = added
        val is =
          if (results.size == 1) Map(results.head.group.number -> statistics)
          else statistics.by(row => groupOf(row.getString(FileStatistics.Path)))
        results.map { result =>
          val after = is.getOrElse(result.group.number, statistics.only(_ => false))
          val quality = result.metrics.copy(
            before = was.get(result.group.number),
            after = was.get(result.group.number).map(_ => of(after)))
          result.copy(metrics = quality)
        }
      }
    } catch {
      case NonFatal(e) =>
        notMeasured(results.map(_.group), e)
        results
    }
}

private object GroupQualities {

  /** Above this size quality isn't recorded; DESCRIBE CLUSTERING measures it on request. */
  private val MaxFiles = 100000L

  private def of(files: FileStatistics): LayoutQuality =
    LayoutQuality.ofBoxes(files.minMax.map(_.ranges))
}
