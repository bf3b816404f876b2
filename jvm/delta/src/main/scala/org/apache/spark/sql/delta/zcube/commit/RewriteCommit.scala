package org.apache.spark.sql.delta.zcube.commit

import java.util.ConcurrentModificationException

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import io.delta.exceptions.{MetadataChangedException, ProtocolChangedException}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.{AddFile, InMemoryLogReplay}
import org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_LAST_COMMIT_VERSION_IN_SESSION
import org.apache.spark.sql.delta.zcube.table.{FileFilter, LeafTypes}
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction
import org.apache.spark.sql.delta.{DeltaErrors, IcebergCompat, MaterializedRowCommitVersion, MaterializedRowId, RowTracking, Snapshot}

import io.zcube.clustering.run.{FailurePoint, Workers}
import io.zcube.clustering.table.{CommitResult, CommitSummary, WhereClause}
import io.zcube.concurrent.{Caught, Causes}
import io.zcube.sql.errors.ZCubeErrors

/** The commits of a rewrite, by Delta's transactions: the one under which the files are written;
  * others on later versions, where a concurrent change didn't touch the rewritten files.
  *
  * @param session   a clone of the user's session, made for reading and writing a layout
  * @param table     the name that users know
  * @param planned   the snapshot that the files are written for
  * @param rewritten the files that are replaced
  * @param since     what is known of the commits since the plan
  */
final class RewriteCommit(
    session: SparkSession,
    table: String,
    catalogTable: Option[CatalogTable],
    planned: Snapshot,
    where: WhereClause,
    rewritten: Seq[AddFile],
    since: CommitsSincePlan) {
  import RewriteCommit._

  private val log = planned.deltaLog

  /** The transaction under which the files are written. */
  val first: DeltaTransaction = begin(planned, rewritten)

  /** After a rejected commit, its state for the groups that are still valid. */
  private var resumed: Option[DeltaTransaction] = None

  /** Commits the changes. After [[CommitResult.Rejected]] with some groups invalidated, the others can
    * be tried again.
    */
  def run(changes: RewriteChanges, summary: CommitSummary): CommitResult =
    Caught(resumed.fold(transactionFor(changes))(Right(_))) match {
      case Failure(e) => CommitResult.Rejected(e)
      case Success(Left(rejected)) => rejected
      case Success(Right(begun)) =>
        // Whatever fails while determining a commit's outcome, the commit may have succeeded.
        Caught(attempt(begun, changes, summary))
          .recover { case e => CommitResult.Unknown(e) }.get
    }

  /** The conflict check begins with the first version that may have touched the files.
    *
    * What others have committed is read here. After a long job that may be thousands of versions, and
    * Delta's check would go through all files for each of them. Delta would also take the versions of a
    * new table, made in the same folder, for those of this one, and write after a log that was put back to
    * an older state, with a gap. And where versions have been removed from
    * the log, it would write the first of them again, which no reader sees, and which hides from later
    * checks what the removed one was.
    */
  private def transactionFor(
      changes: RewriteChanges): Either[CommitResult.Rejected, DeltaTransaction] = {
    val now = log.update(catalogTableOpt = catalogTable)
    def conflict = DeltaErrors.concurrentDeleteReadException(None, table, now.version, None)
    if (now.version < planned.version || now.metadata.id != planned.metadata.id)
      throw refused(conflict)
    val fits = hasSameNeeds(now)
    if (fits) since.accept(now)
    val base = since.baseOf(changes.replaced)
    if (now.version > base.version && !exists(base.version + 1)) {
      // What the table has now decides.
      if (!fits) throw refused(conflict)
      val next = againOn(now, changes, lost(now, changes))
      Either.cond(
        next.invalidated.isEmpty,
        next.transaction,
        rejected(conflict, next, changes))
    } else Right(if (base.version == planned.version) first else begin(base, changes.replaced))
  }

  /** The error of a table that now requires something else of files, or is another. */
  private def refused(conflict: ConcurrentModificationException): Throwable = {
    since.refuseAll(conflict)
    conflict
  }

  /** Whether the log still has a version's commit. */
  private def exists(version: Long): Boolean =
    log.getChanges(version, catalogTable).nextOption().exists(_._1 == version)

  @tailrec
  private def attempt(
      current: DeltaTransaction,
      changes: RewriteChanges,
      summary: CommitSummary): CommitResult =
    commitOnce(current, changes, summary) match {
      case CommitResult.Rejected(conflict: ConcurrentModificationException, _) =>
        again(current, changes, conflict) match {
          case Success(Again(next, invalidated)) if invalidated.isEmpty =>
            attempt(next, changes, summary)
          case Success(next) => rejected(conflict, next, changes)
          case Failure(e) => CommitResult.Rejected(e)
        }
      case other => other
    }

  private def rejected(
      conflict: ConcurrentModificationException,
      next: Again,
      changes: RewriteChanges): CommitResult.Rejected =
    if (next.invalidated.size < changes.groups.size) {
      resumed = Some(next.transaction)
      CommitResult.Rejected(conflict, next.invalidated)
    } else CommitResult.Rejected(conflict)

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

  /** A transaction on the current version, and the numbers of the groups that the conflict invalidated.
    */
  private def again(
      current: DeltaTransaction,
      changes: RewriteChanges,
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
        if (fits && now.version > current.readVersion) lost(now, changes)
        else changes.groups.map(_.number).toSet
      againOn(now, changes, invalidated)
    }.recoverWith { case e =>
      e.addSuppressed(conflict)
      Failure(e)
    }

  private def againOn(now: Snapshot, changes: RewriteChanges, invalidated: Set[Int]): Again = {
    val valid = changes.groups.filterNot(group => invalidated(group.number))
    Again(begin(now, valid.flatMap(_.replaced)), invalidated)
  }

  private def begin(read: Snapshot, files: Seq[AddFile]): DeltaTransaction = {
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
      of.metadata.id,
      of.metadata.partitionSchema,
      of.metadata.columnMappingMode,
      RowTracking.isEnabled(of.protocol, of.metadata),
      rowIdColumns(of),
      IcebergCompat.isAnyEnabled(of.metadata),
      of.protocol)
    needs(now) == needs(planned) && LeafTypes.fit(planned, now)
  }

  /** The hidden columns in which files keep rows' ids. */
  private def rowIdColumns(of: Snapshot): Seq[Option[String]] =
    Seq(MaterializedRowId, MaterializedRowCommitVersion)
      .map(column => of.metadata.configuration.get(column.MATERIALIZED_COLUMN_NAME_PROP))

  /** The groups whose rewritten files are not all still in the table with the same deleted rows. */
  private def lost(now: Snapshot, changes: RewriteChanges): Set[Int] = {
    def identity(file: AddFile) = InMemoryLogReplay.UniqueFileActionTuple(
      file.pathAsUri,
      file.getDeletionVectorUniqueId)
    val live = FileFilter(changes.replaced.iterator.map(_.path)).filesOf(now).map(identity).toSet
    changes.groups.filterNot(_.replaced.forall(file => live.contains(identity(file))))
      .map(_.number).toSet
  }

  /** A VACUUM without retention removes files that no commit names yet, including these. */
  private def checkWritten(added: Seq[AddFile]): Unit = {
    val fs = log.dataPath.getFileSystem(log.newDeltaHadoopConf())
    val missing = new Workers("ZCubeCheck", math.min(16, added.size))
      .map(added)(file => !fs.exists(file.absolutePath(log)))
      .zip(added)
      .collect { case (isMissing, file) if isMissing.get => file.path }
    missing.headOption.foreach(path => throw ZCubeErrors.writtenFileMissing(table, path))
  }
}

object RewriteCommit {

  /** @param transaction on the current version, for the groups that are still valid
    * @param invalidated numbers of the invalidated groups
    */
  private case class Again(transaction: DeltaTransaction, invalidated: Set[Int])
}
