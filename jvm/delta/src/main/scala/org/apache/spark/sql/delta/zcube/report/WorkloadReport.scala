package org.apache.spark.sql.delta.zcube.report

import org.apache.spark.sql.catalyst.expressions.PredicateHelper
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.zcube.plan.{OptimizeTask, WorkloadQuery}

/** What the queries of a workload must read before and after an OPTIMIZE: the files that Delta's own data
  * skipping leaves to a scan. It asks the log, not the data.
  */
final class WorkloadReport private (task: OptimizeTask, before: Seq[WorkloadReport.Read]) {

  /** For each query what it is, and what it reads in both states. */
  def after(): Seq[Map[String, Any]] = {
    val now =
      if (before.isEmpty) Nil
      else {
        val updated = task.snapshot.deltaLog.update(catalogTableOpt = task.catalogTable)
        task.workload.map(WorkloadReport.read(updated, _))
      }
    task.workload.zip(before.zip(now)).map { case (query, (was, is)) =>
      Map[String, Any](
        "predicate" -> query.predicate.text,
        "weight" -> query.predicate.weight,
        "filesBefore" -> was.files,
        "bytesBefore" -> was.bytes,
        "filesAfter" -> is.files,
        "bytesAfter" -> is.bytes,
        "note" -> query.note
      )
    }
  }
}

object WorkloadReport extends PredicateHelper {

  private case class Read(files: Int, bytes: Long)

  /** Takes down the state before; nothing where no one asks for details. */
  def of(task: OptimizeTask): WorkloadReport = {
    val queries = if (task.options.details) task.workload else Nil
    new WorkloadReport(task, queries.map(read(task.snapshot, _)))
  }

  private def read(snapshot: Snapshot, query: WorkloadQuery): Read = {
    // Delta tells partition columns from others conjunct by conjunct.
    val conjuncts = splitConjunctivePredicates(query.condition)
    val files = snapshot.filesForScan(conjuncts, keepNumRecords = false).files
    Read(files.size, files.iterator.map(_.size).sum)
  }
}
