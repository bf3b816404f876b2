package org.apache.spark.sql.delta.zcube.commit

import java.util.ConcurrentModificationException
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.delta.actions.{AddFile, InMemoryLogReplay}
import org.apache.spark.sql.delta.zcube.table.{CubeTags, DataFiles, FileFilter, LoggedFileStatistics}
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.{IcebergCompat, OptimisticTransaction, RowTracking, Snapshot}

import io.zcube.clustering.run.{FailurePoint, Workers}
import io.zcube.clustering.table._
import io.zcube.concurrent.Caught
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors

/** Rewrites files of a Delta table by transactions of Delta's: one that writes and commits, and others
  * that commit anew where a concurrent change left the rewritten files alone.
  *
  * @param session  a clone of the user's, made for reading and writing by a layout
  * @param table    as the user knows it
  * @param rewritten the files that give way to others
  */
final class DeltaRewrite(
    session: SparkSession,
    table: String,
    catalogTable: Option[CatalogTable],
    snapshot: Snapshot,
    where: WhereClause,
    rewritten: Seq[AddFile])
    extends RewriteTransaction {

  private val log = snapshot.deltaLog
  private val byPath = rewritten.iterator.map(f => f.path -> f).toMap
  private val written = new ConcurrentHashMap[String, AddFile]()
  private val txn = transactionOf(snapshot)

  override def write(rows: LogicalPlan, partition: Map[String, String]): Seq[DataFile] =
    txn.writeFiles(Dataset.ofRows(session, rows), None, isOptimize = true, Nil).map {
      // Delta parses the values back from a folder's name, which has no zone of a time, and no way to
      // tell NULL from its own text for NULL. All rows are of the group's partition.
      case action: AddFile =>
        val file = action.copy(partitionValues = partition, dataChange = false)
        written.put(file.path, file)
        DataFiles.of(file, None)
      case other => throw ZCubeErrors.internal(s"a rewrite that wrote ${other.json}")
    }

  override def countRows(files: Seq[DataFile]): Long =
    log.createDataFrame(snapshot, files.map(f => written.get(f.path))).count()

  override def statistics(files: Seq[DataFile], columns: Seq[ColumnPath]): FileStatistics =
    LoggedFileStatistics.ofActions(
      session,
      snapshot,
      files.map(f => written.get(f.path)),
      columns)

  override def commit(cubes: Seq[NewCube], summary: CommitSummary): CommitResult =
    Caught(changesOf(cubes, summary)) match {
      case Failure(e) => CommitResult.Refused(e)
      case Success(changes) =>
        // Whatever goes wrong while it is asked what became of a commit, it may have gone through.
        Caught(attempt(txn, changes, summary)).recover { case e => CommitResult.Unknown(e) }.get
    }

  override def abort(): Unit = txn.removeWrittenFiles()

  private def changesOf(cubes: Seq[NewCube], summary: CommitSummary): RewriteChanges = {
    val tags = new CubeTags(summary.layout)
    val replaced = cubes.flatMap(_.removed.map(f => byPath(f.path)))
    RewriteChanges(
      replaced,
      replaced.map(_.removeWithTimestamp(summary.startedAt, dataChange = false)),
      for (cube <- cubes; file <- cube.added) yield tags.write(written.get(file.path), cube.id)
    )
  }

  @tailrec
  private def attempt(
      current: DeltaTransaction,
      changes: RewriteChanges,
      summary: CommitSummary): CommitResult =
    commitOnce(current, changes, summary) match {
      case refused @ CommitResult.Refused(conflict: ConcurrentModificationException) =>
        again(current, changes, conflict) match {
          case Success(Some(next)) => attempt(next, changes, summary)
          case Success(None) => refused
          case Failure(e) => CommitResult.Refused(e)
        }
      case other => other
    }

  private def commitOnce(
      current: DeltaTransaction,
      changes: RewriteChanges,
      summary: CommitSummary): CommitResult =
    try {
      FailurePoint.reached(FailurePoint.BeforeCommit)
      checkWritten(changes.added)
      current.registerSQLMetrics(session, OptimizeMetrics.of(session.sparkContext, changes))
      val operation = OptimizeOperation.of(where, summary)
      val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(current.snapshot)
      CommitResult.Landed(current.commit(changes.actions, operation, tags))
    } catch {
      case e: Throwable => new CommitInquiry(table, current, changes).after(e)
    }

  /** A transaction of the table as it is now, if a conflict left the rewritten files alone. */
  private def again(
      current: DeltaTransaction,
      changes: RewriteChanges,
      conflict: Throwable): Try[Option[DeltaTransaction]] =
    Caught {
      val now = log.update(catalogTableOpt = catalogTable)
      val next = transactionOf(now)
      // Without progress the same conflict would come again, for ever.
      Option.when(now.version > current.readVersion && stillValid(next, changes.replaced))(next)
    }.recoverWith { case e =>
      e.addSuppressed(conflict)
      Failure(e)
    }

  private def transactionOf(read: Snapshot): DeltaTransaction = {
    val begun = new DeltaTransaction(session.sparkContext, log, catalogTable, read)
    begun.trackFilesRead(rewritten)
    begun.trackReadPredicates(where.written)
    begun
  }

  /** Whether all rewritten files, with the same deleted rows, are in the table as it is now, and the
    * new files have what the table now asks of its files.
    */
  private def stillValid(next: OptimisticTransaction, replaced: Seq[AddFile]): Boolean = {
    def identity(file: AddFile) = InMemoryLogReplay.UniqueFileActionTuple(
      file.pathAsUri,
      file.getDeletionVectorUniqueId)
    val (before, after) = (snapshot, next.snapshot)
    val sameNeeds =
      after.metadata.partitionSchema == before.metadata.partitionSchema &&
        after.metadata.columnMappingMode == before.metadata.columnMappingMode &&
        RowTracking.isEnabled(after.protocol, after.metadata) ==
        RowTracking.isEnabled(before.protocol, before.metadata) &&
        IcebergCompat.isAnyEnabled(after.metadata) ==
        IcebergCompat.isAnyEnabled(before.metadata) &&
        after.protocol == before.protocol
    sameNeeds && {
      val now = FileFilter(replaced.iterator.map(_.path)).filesOf(after).map(identity).toSet
      replaced.forall(file => now.contains(identity(file)))
    }
  }

  /** A VACUUM without retention removes files that no commit names yet, so these too. */
  private def checkWritten(added: Seq[AddFile]): Unit = {
    val fs = log.dataPath.getFileSystem(log.newDeltaHadoopConf())
    val missing = new Workers("ZCubeCheck", math.min(16, added.size))
      .map(added)(file => !fs.exists(new Path(log.dataPath, new Path(file.pathAsUri))))
      .zip(added)
      .collect { case (isMissing, file) if isMissing.get => file.path }
    missing.headOption.foreach(path => throw ZCubeErrors.writtenFileMissing(table, path))
  }
}
