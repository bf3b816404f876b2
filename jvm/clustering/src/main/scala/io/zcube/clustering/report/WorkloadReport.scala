package io.zcube.clustering.report

import scala.util.control.NonFatal

import io.zcube.clustering.plan.OptimizeTask
import io.zcube.clustering.table.FilesRead
import io.zcube.concurrent.Causes

/** What the queries of a workload must read before and after an OPTIMIZE: the files that remain
  * after the table format's data skipping. It uses metadata, not the data.
  */
final class WorkloadReport private (task: OptimizeTask, before: Seq[FilesRead]) {

  /** Describes each query, and what it reads in both states. The run is committed: if the table can't
    * be read now, the figures afterwards are null, and the note says why.
    */
  def after(): Seq[Map[String, Any]] =
    if (before.isEmpty) Nil
    else
      try {
        val updated = task.version.table.latest()
        describe(task.workload.map(query => Some(updated.filesRead(query.condition))), None)
      } catch {
        case NonFatal(e) =>
          val why = s"not read afterwards: ${Causes.firstLine(e)}"
          describe(task.workload.map(_ => None), Some(why))
      }

  private def describe(now: Seq[Option[FilesRead]], why: Option[String]): Seq[Map[String, Any]] =
    task.workload.zip(before.zip(now)).map { case (query, (was, is)) =>
      Map[String, Any](
        "predicate" -> query.predicate.text,
        "weight" -> query.predicate.weight,
        "filesBefore" -> was.files,
        "bytesBefore" -> was.bytes,
        "filesAfter" -> is.map(_.files).orNull,
        "bytesAfter" -> is.map(_.bytes).orNull,
        "note" -> (query.notes ++ why).mkString("; ")
      )
    }
}

object WorkloadReport {

  /** Records the state before the run, if details are requested. */
  def of(task: OptimizeTask): WorkloadReport = {
    val queries = if (task.options.details) task.workload else Nil
    new WorkloadReport(task, queries.map(query => task.version.filesRead(query.condition)))
  }
}
