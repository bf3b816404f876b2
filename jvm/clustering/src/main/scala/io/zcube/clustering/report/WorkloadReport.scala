package io.zcube.clustering.report

import io.zcube.clustering.plan.OptimizeTask
import io.zcube.clustering.table.FilesRead

/** What the queries of a workload must read before and after an OPTIMIZE: the files that remain
  * after the table format's data skipping. It uses metadata, not the data.
  */
final class WorkloadReport private (task: OptimizeTask, before: Seq[FilesRead]) {

  /** Describes each query, and what it reads in both states. */
  def after(): Seq[Map[String, Any]] = {
    val now =
      if (before.isEmpty) Nil
      else {
        val updated = task.version.table.latest()
        task.workload.map(query => updated.filesRead(query.condition))
      }
    task.workload.zip(before.zip(now)).map { case (query, (was, is)) =>
      Map[String, Any](
        "predicate" -> query.predicate.text,
        "weight" -> query.predicate.weight,
        "filesBefore" -> was.files,
        "bytesBefore" -> was.bytes,
        "filesAfter" -> is.files,
        "bytesAfter" -> is.bytes,
        "note" -> query.notes.mkString("; ")
      )
    }
  }
}

object WorkloadReport {

  /** Records the state before the run, if details are requested. */
  def of(task: OptimizeTask): WorkloadReport = {
    val queries = if (task.options.details) task.workload else Nil
    new WorkloadReport(task, queries.map(query => task.version.filesRead(query.condition)))
  }
}
