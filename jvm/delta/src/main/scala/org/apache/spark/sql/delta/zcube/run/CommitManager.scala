package org.apache.spark.sql.delta.zcube.run

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{Action, AddFile, InMemoryLogReplay}
import org.apache.spark.sql.delta.zcube.jobs.{Caught, FailurePoint, Workers}
import org.apache.spark.sql.delta.zcube.plan.OptimizeTask
import org.apache.spark.sql.delta.zcube.table.FileFilter
import org.apache.spark.sql.delta.zcube.write.RewriteTransaction
import org.apache.spark.sql.delta.{IcebergCompat, OptimisticTransaction, RowTracking}

import io.zcube.sql.errors.ZCubeErrors

/** Commits rewritten groups, and tries again where a concurrent change left their files alone. */
final class CommitManager(session: SparkSession, task: OptimizeTask) {

  /** Commits what was written under `txn`. Whatever is thrown, the log says how it ended.
    *
    * [[CommitResult.Refused]] has Delta's typed conflict if a file that was rewritten is no longer in the
    * table.
    */
  def commit(txn: RewriteTransaction, groups: Seq[RewriteResult]): CommitResult = {
    val result = attempt(txn, groups, groups.flatMap(_.added) ++ groups.flatMap(_.removed))
    if (result.isInstanceOf[CommitResult.Landed]) FailurePoint.reached(FailurePoint.AfterCommit)
    result
  }

  @tailrec
  private def attempt(
      txn: RewriteTransaction,
      groups: Seq[RewriteResult],
      actions: Seq[Action]): CommitResult =
    commitOnce(txn, groups, actions) match {
      case refused @ CommitResult.Refused(conflict: ConcurrentModificationException) =>
        again(txn, groups, conflict) match {
          case Success(Some(next)) => attempt(next, groups, actions)
          case Success(None) => refused
          case Failure(e) => CommitResult.Refused(e)
        }
      case other => other
    }

  private def commitOnce(
      txn: RewriteTransaction,
      groups: Seq[RewriteResult],
      actions: Seq[Action]): CommitResult =
    try {
      FailurePoint.reached(FailurePoint.BeforeCommit)
      checkWritten(groups)
      txn.registerSQLMetrics(session, CommitMetrics.deltas(session.sparkContext, groups))
      val operation = OptimizeOperation.of(task, groups)
      val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(txn.snapshot)
      CommitResult.Landed(txn.commit(actions, operation, tags))
    } catch {
      case e: Throwable => new CommitInquiry(task.tableName, txn, groups).after(e)
    }

  /** A transaction of the table as it is now, if a conflict left the rewritten files alone. */
  private def again(
      txn: RewriteTransaction,
      groups: Seq[RewriteResult],
      conflict: Throwable): Try[Option[RewriteTransaction]] =
    Caught {
      val log = txn.deltaLog
      val snapshot = log.update(catalogTableOpt = txn.catalogTable)
      val next =
        new RewriteTransaction(session.sparkContext, log, txn.catalogTable, snapshot)
      // Without progress the same conflict would come again, for ever.
      Option.when(snapshot.version > txn.readVersion && stillValid(next, groups)) {
        next.trackFilesRead(groups.flatMap(_.group.files))
        next.trackReadPredicates(task.where.written)
        next
      }
    }.recoverWith { case e =>
      e.addSuppressed(conflict)
      Failure(e)
    }

  /** Whether all rewritten files, with the same deleted rows, are in the table as it is now, and the
    * new files have what the table now asks of its files.
    */
  private def stillValid(txn: OptimisticTransaction, groups: Seq[RewriteResult]): Boolean = {
    def identity(file: AddFile) = InMemoryLogReplay.UniqueFileActionTuple(
      file.pathAsUri,
      file.getDeletionVectorUniqueId)
    val (before, after) = (task.snapshot, txn.snapshot)
    val sameNeeds =
      after.metadata.partitionSchema == before.metadata.partitionSchema &&
        after.metadata.columnMappingMode == before.metadata.columnMappingMode &&
        RowTracking.isEnabled(after.protocol, after.metadata) ==
        RowTracking.isEnabled(before.protocol, before.metadata) &&
        IcebergCompat.isAnyEnabled(after.metadata) ==
        IcebergCompat.isAnyEnabled(before.metadata) &&
        after.protocol == before.protocol
    sameNeeds && {
      val rewritten = groups.flatMap(_.group.files)
      val now = FileFilter(rewritten.iterator.map(_.path)).filesOf(after).map(identity).toSet
      rewritten.forall(file => now.contains(identity(file)))
    }
  }

  /** A VACUUM without retention removes files that no commit names yet, so these too. */
  private def checkWritten(groups: Seq[RewriteResult]): Unit = {
    val log = task.snapshot.deltaLog
    val fs = log.dataPath.getFileSystem(log.newDeltaHadoopConf())
    val added = groups.flatMap(_.added)
    val missing = new Workers("ZCubeCheck", math.min(16, added.size))
      .map(added)(file => !fs.exists(new Path(log.dataPath, new Path(file.pathAsUri))))
      .zip(added)
      .collect { case (isMissing, file) if isMissing.get => file.path }
    missing.headOption.foreach(path => throw ZCubeErrors.writtenFileMissing(task.tableName, path))
  }
}
