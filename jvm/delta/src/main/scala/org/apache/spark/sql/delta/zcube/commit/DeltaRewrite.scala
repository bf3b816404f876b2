package org.apache.spark.sql.delta.zcube.commit

import java.util.ConcurrentModificationException
import java.util.concurrent.ConcurrentHashMap

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import io.delta.exceptions.{MetadataChangedException, ProtocolChangedException}
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{Action, AddFile, InMemoryLogReplay, RemoveFile}
import org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_LAST_COMMIT_VERSION_IN_SESSION
import org.apache.spark.sql.delta.zcube.table.{CubeTags, DataFiles, FileFilter, LeafTypes, LoggedFileStatistics}
import org.apache.spark.sql.delta.zcube.write.{CleaningCommitProtocol, DeltaTransaction}
import org.apache.spark.sql.delta.{IcebergCompat, MaterializedRowCommitVersion, MaterializedRowId, RowTracking, Snapshot}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.run.{FailurePoint, Workers}
import io.zcube.clustering.table._
import io.zcube.concurrent.{Caught, Causes}
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors

/** Rewrites files of a Delta table with Delta's transactions: one that writes and commits, and
  * others that retry the commit if a concurrent change didn't touch the rewritten files.
  *
  * @param session a clone of the user's session, made for reading and writing a layout
  * @param table    the name that users know
  * @param rewritten the files that are replaced
  * @param since     what is known of the commits since the plan
  */
final class DeltaRewrite(
    session: SparkSession,
    table: String,
    catalogTable: Option[CatalogTable],
    snapshot: Snapshot,
    where: WhereClause,
    rewritten: Seq[AddFile],
    since: CommitsSincePlan)
    extends RewriteTransaction {
  import DeltaRewrite._

  private val log = snapshot.deltaLog
  private val byPath = rewritten.iterator.map(f => f.path -> f).toMap

  /** A log may lack NULLs of old files; those of new ones must have all columns. */
  private val noValues: Map[String, String] =
    snapshot.metadata.physicalPartitionColumns.map(_ -> null).toMap
  private val written = new ConcurrentHashMap[String, AddFile]()
  private val txn = transactionOf(snapshot, rewritten)

  /** After a rejected commit, its state for the groups that are still valid. */
  private var resumed: Option[DeltaTransaction] = None

  override def writeGroups(
      rows: LogicalPlan,
      partitionOf: Int => Map[String, String]): Seq[RewriteTransaction.Written] =
    txn.writeFiles(Sessions.rowsOf(session, rows), None, isOptimize = true, Nil).map {
      // Delta parses the values from a folder's name, which has no time zone and doesn't
      // distinguish NULL from the string that denotes it. All rows are in the group's partition.
      case action: AddFile =>
        val (part, untagged) = CleaningCommitProtocol.partOf(action)
        val values = noValues ++ partitionOf(part)
        val file = untagged.copy(partitionValues = values, dataChange = false)
        written.put(file.path, file)
        RewriteTransaction.Written(part, DataFiles.of(file, None))
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

  override def commit(groups: Seq[RewrittenGroup], summary: CommitSummary): CommitResult =
    Caught {
      val changes = changesOf(groups, summary)
      (changes, begin(changes))
    } match {
      case Failure(e) => CommitResult.Rejected(e)
      case Success((changes, begun)) =>
        // Whatever fails while determining a commit's outcome, the commit may have succeeded.
        Caught(attempt(begun, changes, groups, summary))
          .recover { case e => CommitResult.Unknown(e) }.get
    }

  /** The conflict check begins with the first version that may have touched the files. */
  private def begin(changes: RewriteChanges): DeltaTransaction = resumed.getOrElse {
    val base = since.baseOf(changes.replaced)
    if (base.version == snapshot.version) txn else transactionOf(base, changes.replaced)
  }

  override def discard(files: Seq[DataFile]): Unit =
    txn.remove(files.map(file => pathOf(written.get(file.path)).toString))

  override def abort(): Unit = txn.removeWrittenFiles()

  private def pathOf(file: AddFile): Path = new Path(log.dataPath, new Path(file.pathAsUri))

  private def changesOf(groups: Seq[RewrittenGroup], summary: CommitSummary): RewriteChanges = {
    val tags = new CubeTags(summary.layout)
    val replaced = replacedBy(groups)
    RewriteChanges(
      replaced,
      // VACUUM keeps them for their readers from now on, not since a long run began.
      replaced.map(_.removeWithTimestamp(System.currentTimeMillis(), dataChange = false)),
      for (group <- groups; cube <- group.cubes; file <- cube.files)
        yield tags.write(written.get(file.path), cube)
    )
  }

  @tailrec
  private def attempt(
      current: DeltaTransaction,
      changes: RewriteChanges,
      groups: Seq[RewrittenGroup],
      summary: CommitSummary): CommitResult =
    commitOnce(current, changes, summary) match {
      case CommitResult.Rejected(conflict: ConcurrentModificationException, _) =>
        again(current, changes, groups, conflict) match {
          case Success(Again(next, invalidated)) if invalidated.isEmpty =>
            attempt(next, changes, groups, summary)
          case Success(Again(next, invalidated)) if invalidated.size < groups.size =>
            resumed = Some(next)
            CommitResult.Rejected(conflict, invalidated)
          case Success(_) => CommitResult.Rejected(conflict)
          case Failure(e) => CommitResult.Rejected(e)
        }
      case other => other
    }

  private def commitOnce(
      current: DeltaTransaction,
      changes: RewriteChanges,
      summary: CommitSummary): CommitResult =
    Caught(new SymlinkManifest(session, current, changes)) match {
      case Failure(e) => CommitResult.Rejected(e)
      case Success(manifest) => commitWith(manifest, current, changes, summary)
    }

  private def commitWith(
      manifest: SymlinkManifest,
      current: DeltaTransaction,
      changes: RewriteChanges,
      summary: CommitSummary): CommitResult =
    try {
      FailurePoint.reached(FailurePoint.BeforeCommit)
      checkWritten(changes.added)
      current.registerSQLMetrics(session, OptimizeMetrics.of(session.sparkContext, changes))
      val operation = OptimizeOperation.of(where, summary)
      val tags = RowTracking.addPreservedRowTrackingTagIfNotSet(current.snapshot)
      val version = current.commit(changes.actions, operation, tags)
      since.add(current, hasSameNeeds)
      CommitResult.Committed(version)
    } catch {
      case e: Throwable =>
        current.getCommitted match {
          // Delta got the store's answer. What failed since is a hook of which Delta, or the user by a
          // setting, says that its failure is the statement's. Manifests are written again.
          case Some(done) =>
            val ends = Thread.currentThread.isInterrupted || Causes.endsRun(e)
            val failure = Option.when(ends || !manifest.threw(e))(e)
            manifest.after(CommitResult.Committed(done.committedVersion, failure))
          case None => new CommitInquiry(table, current, changes).after(e) match {
              case committed: CommitResult.Committed =>
                // As Delta does after an answer.
                session.sessionState.conf
                  .setConf(DELTA_LAST_COMMIT_VERSION_IN_SESSION, Some(committed.version))
                manifest.after(committed)
              case other => other
            }
        }
    }

  /** A transaction on the current version, and the ids of the groups that the conflict invalidated.
    */
  private def again(
      current: DeltaTransaction,
      changes: RewriteChanges,
      groups: Seq[RewrittenGroup],
      conflict: ConcurrentModificationException): Try[Again] =
    Caught {
      val now = log.update(catalogTableOpt = catalogTable)
      val fits = hasSameNeeds(now)
      conflict match {
        case _ if fits => since.accept(now)
        case _: MetadataChangedException | _: ProtocolChangedException => since.refuseAll(conflict)
        // Delta may let commits pass that no conflict of their own holds up.
        case _ =>
      }
      // Without progress, the same conflict would repeat forever.
      val invalidated =
        if (fits && now.version > current.readVersion) lost(now, changes, groups)
        else groups.map(_.id).toSet
      val valid = groups.filterNot(group => invalidated(group.id))
      Again(transactionOf(now, replacedBy(valid)), invalidated)
    }.recoverWith { case e =>
      e.addSuppressed(conflict)
      Failure(e)
    }

  private def transactionOf(read: Snapshot, files: Seq[AddFile]): DeltaTransaction = {
    val begun = new DeltaTransaction(session.sparkContext, log, catalogTable, read)
    begun.trackFilesRead(files)
    begun.trackReadPredicates(where.written)
    begun
  }

  /** Whether files written for the plan's snapshot are surely as the table now requires. Delta's own
    * check tolerates more.
    */
  private def hasSameNeeds(now: Snapshot): Boolean = {
    def needs(of: Snapshot) = (
      of.metadata.partitionSchema,
      of.metadata.columnMappingMode,
      RowTracking.isEnabled(of.protocol, of.metadata),
      rowIdColumns(of),
      IcebergCompat.isAnyEnabled(of.metadata),
      of.protocol)
    needs(now) == needs(snapshot) && LeafTypes.agree(snapshot, now)
  }

  /** The hidden columns in which files keep rows' ids. */
  private def rowIdColumns(of: Snapshot): Seq[Option[String]] =
    Seq(MaterializedRowId, MaterializedRowCommitVersion)
      .map(column => of.metadata.configuration.get(column.MATERIALIZED_COLUMN_NAME_PROP))

  /** The groups whose rewritten files are not all still in the table with the same deleted rows. */
  private def lost(
      now: Snapshot,
      changes: RewriteChanges,
      groups: Seq[RewrittenGroup]): Set[String] = {
    def identity(file: AddFile) = InMemoryLogReplay.UniqueFileActionTuple(
      file.pathAsUri,
      file.getDeletionVectorUniqueId)
    val live = FileFilter(changes.replaced.iterator.map(_.path)).filesOf(now).map(identity).toSet
    groups.filterNot(group => replacedBy(Seq(group)).forall(f => live.contains(identity(f))))
      .map(_.id).toSet
  }

  private def replacedBy(groups: Seq[RewrittenGroup]): Seq[AddFile] =
    groups.flatMap(_.removed.map(file => byPath(file.path)))

  /** A VACUUM without retention removes files that no commit names yet, including these. */
  private def checkWritten(added: Seq[AddFile]): Unit = {
    val fs = log.dataPath.getFileSystem(log.newDeltaHadoopConf())
    val missing = new Workers("ZCubeCheck", math.min(16, added.size))
      .map(added)(file => !fs.exists(pathOf(file)))
      .zip(added)
      .collect { case (isMissing, file) if isMissing.get => file.path }
    missing.headOption.foreach(path => throw ZCubeErrors.writtenFileMissing(table, path))
  }
}

object DeltaRewrite {

  /** @param next a transaction on the current version, for the groups that are still valid
    * @param invalidated ids of the invalidated groups
    */
  private case class Again(next: DeltaTransaction, invalidated: Set[String])
}

/** The changes that a rewrite commits to the log.
  *
  * @param replaced the rewritten files, as in the log
  * @param removed  the corresponding remove actions of the commit
  * @param added    the new files, with the tags of their cubes
  */
final case class RewriteChanges(
    replaced: Seq[AddFile],
    removed: Seq[RemoveFile],
    added: Seq[AddFile]) {

  def actions: Seq[Action] = added ++ removed
}
