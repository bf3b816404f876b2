package org.apache.spark.sql.delta.zcube.commit

import java.util.concurrent.ConcurrentHashMap

import scala.util.{Failure, Success}

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.table.{CubeTags, DataFiles, LoggedFileStatistics}
import org.apache.spark.sql.delta.zcube.write.CleaningCommitProtocol
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table._
import io.zcube.concurrent.Caught
import io.zcube.planning.DataFile
import io.zcube.sql.errors.ZCubeErrors

/** Rewrites files of a Delta table: writes the new ones under a transaction of Delta, and commits
  * them ([[RewriteCommit]]).
  *
  * @param session   a clone of the user's session, made for reading and writing a layout
  * @param table     the name that users know
  * @param snapshot  the one that the run was planned from
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

  private val log = snapshot.deltaLog
  private val byPath = rewritten.iterator.map(f => f.path -> f).toMap

  /** A log may lack NULLs of old files, or have keys that are no columns; new ones must have all columns,
    * and nothing else.
    */
  private val noValues: Map[String, String] =
    snapshot.metadata.physicalPartitionColumns.map(_ -> null).toMap
  private val written = new ConcurrentHashMap[String, AddFile]()
  private val commits =
    new RewriteCommit(session, table, catalogTable, snapshot, where, rewritten, since)
  private val txn = commits.first

  override def writeGroups(
      rows: LogicalPlan,
      partitionOf: Int => Map[String, String]): Seq[RewriteTransaction.Written] =
    txn.writeFiles(Sessions.rowsOf(session, rows), None, isOptimize = true, Nil).map {
      // Delta parses the values from a folder's name, which has no time zone and doesn't
      // distinguish NULL from the string that denotes it. All rows are in the group's partition.
      case action: AddFile =>
        val (part, untagged) = CleaningCommitProtocol.partOf(action)
        val values = noValues ++ partitionOf(part).view.filterKeys(noValues.contains)
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
    Caught(changesOf(groups, summary.layout)) match {
      case Failure(e) => CommitResult.Rejected(e)
      case Success(changes) => commits.run(changes, summary)
    }

  override def discard(files: Seq[DataFile]): Unit =
    txn.remove(files.map(file => written.get(file.path).absolutePath(log).toString))

  override def abort(): Unit = txn.removeWrittenFiles()

  private def changesOf(groups: Seq[RewrittenGroup], layout: LayoutTag): RewriteChanges = {
    val tags = new CubeTags(layout)
    RewriteChanges(
      groups.map { group =>
        val added = for (cube <- group.cubes; file <- cube.files)
          yield tags.write(written.get(file.path), cube)
        GroupChanges(group.number, group.removed.map(file => byPath(file.path)), added)
      },
      // Not when a long run began.
      removedAt = System.currentTimeMillis()
    )
  }
}
