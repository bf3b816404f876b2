package org.apache.spark.sql.delta.zcube

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{Action, AddFile, InMemoryLogReplay}
import org.apache.spark.sql.delta.{OptimisticTransaction, RowTracking}
import org.apache.spark.util.ThreadUtils

import io.zcube.sql.errors.ZCubeErrors

/** Commits rewritten groups, and tries again where a concurrent change left their files alone. */
final class CommitManager(session: SparkSession, task: ClusteringTask) {

  /** The table's new version.
    *
    * @throws java.util.ConcurrentModificationException Delta's typed conflict, when a file that was
    *         rewritten is no longer in the table; then surely nothing was committed
    */
  def commit(txn: OptimisticTransaction, groups: Seq[RewrittenGroup]): Long = {
    FailurePoint.reached(FailurePoint.BeforeCommit)
    checkWritten(groups)
    val version = attempt(txn, groups, groups.flatMap(_.added) ++ groups.flatMap(_.removed))
    FailurePoint.reached(FailurePoint.AfterCommit)
    version
  }

  @tailrec
  private def attempt(
      txn: OptimisticTransaction,
      groups: Seq[RewrittenGroup],
      actions: Seq[Action]): Long = {
    txn.registerSQLMetrics(session, CommitMetrics.of(session.sparkContext, groups))
    val operation = new OptimizeOperation(task, groups)
    val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(txn.snapshot)
    Try(txn.commit(actions, operation, tags)) match {
      case Success(version) => version
      case Failure(e: ConcurrentModificationException) =>
        val again = txn.deltaLog.startTransaction(txn.catalogTable)
        if (!stillValid(again, groups)) throw e
        checkWritten(groups)
        again.trackFilesRead(groups.flatMap(_.group.files))
        again.trackReadPredicates(task.predicates)
        attempt(again, groups, actions)
      case Failure(e) => throw e
    }
  }

  /** Whether all rewritten files, with the same deleted rows, are in the table as it is now, and the
    * new files have what the table now asks of its files.
    */
  private def stillValid(txn: OptimisticTransaction, groups: Seq[RewrittenGroup]): Boolean = {
    def identity(file: AddFile) = InMemoryLogReplay.UniqueFileActionTuple(
      file.pathAsUri,
      file.getDeletionVectorUniqueId)
    val (before, after) = (task.snapshot, txn.snapshot)
    val sameNeeds =
      after.metadata.partitionSchema == before.metadata.partitionSchema &&
        after.metadata.columnMappingMode == before.metadata.columnMappingMode &&
        RowTracking.isEnabled(after.protocol, after.metadata) ==
        RowTracking.isEnabled(before.protocol, before.metadata)
    sameNeeds && {
      val now = after.filesForScan(Nil).files.map(identity).toSet
      groups.flatMap(_.group.files).forall(file => now.contains(identity(file)))
    }
  }

  /** A VACUUM without retention removes files that no commit names yet, so these too. */
  private def checkWritten(groups: Seq[RewrittenGroup]): Unit = {
    val log = task.snapshot.deltaLog
    val fs = log.dataPath.getFileSystem(log.newDeltaHadoopConf())
    val added = groups.flatMap(_.added)
    val missing = ThreadUtils.parmap(added, "ZCubeCheck", math.max(1, math.min(16, added.size))) {
      file => Option.when(!fs.exists(new Path(log.dataPath, new Path(file.pathAsUri))))(file.path)
    }.flatten
    missing.headOption.foreach(path => throw ZCubeErrors.writtenFileMissing(task.tableName, path))
  }
}
