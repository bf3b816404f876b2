package org.apache.spark.sql.delta.zcube

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{Action, AddFile, InMemoryLogReplay}
import org.apache.spark.sql.delta.{DeltaOperations, OptimisticTransaction, RowTracking}

/** Commits rewritten groups, and tries again where a concurrent change left their files alone. */
final class CommitManager(session: SparkSession, task: ZOrderTask) {

  private val operation = DeltaOperations.Optimize(
    predicate = task.predicates,
    zOrderBy = task.zOrderBy.map(_.name),
    auto = false,
    clusterBy = None,
    isFull = false)

  /** @throws java.util.ConcurrentModificationException Delta's typed conflict, when a file that was
    *         rewritten is no longer in the table; then surely nothing was committed
    */
  def commit(txn: OptimisticTransaction, groups: Seq[RewrittenGroup]): Unit = {
    val actions = groups.flatMap(_.added) ++ groups.flatMap(_.removed)
    attempt(txn, groups, actions)
  }

  @tailrec
  private def attempt(
      txn: OptimisticTransaction,
      groups: Seq[RewrittenGroup],
      actions: Seq[Action]): Unit = {
    txn.registerSQLMetrics(session, CommitMetrics.of(session.sparkContext, groups))
    val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(txn.snapshot)
    Try(txn.commit(actions, operation, tags)) match {
      case Success(_) =>
      case Failure(e: ConcurrentModificationException) =>
        val again = txn.deltaLog.startTransaction(txn.catalogTable)
        if (!stillThere(again, groups)) throw e
        again.trackFilesRead(groups.flatMap(_.group.files))
        again.trackReadPredicates(task.predicates)
        attempt(again, groups, actions)
      case Failure(e) => throw e
    }
  }

  /** Whether all rewritten files, with the same deleted rows, are in the table as it is now. */
  private def stillThere(txn: OptimisticTransaction, groups: Seq[RewrittenGroup]): Boolean = {
    def identity(file: AddFile) = InMemoryLogReplay.UniqueFileActionTuple(
      file.pathAsUri,
      file.getDeletionVectorUniqueId)
    val now = txn.snapshot.filesForScan(task.predicates).files.map(identity).toSet
    txn.metadata.partitionSchema == task.snapshot.metadata.partitionSchema &&
    groups.flatMap(_.group.files).forall(file => now.contains(identity(file)))
  }
}
