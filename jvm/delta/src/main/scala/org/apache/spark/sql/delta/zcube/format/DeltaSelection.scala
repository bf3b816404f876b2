package org.apache.spark.sql.delta.zcube.format

import java.util.ConcurrentModificationException
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.commit.{CommitsSincePlan, DeltaRewrite}
import org.apache.spark.sql.delta.zcube.table._
import org.apache.spark.sql.delta.zcube.write.InputRows

import io.zcube.clustering.table._
import io.zcube.planning.{DataFile, KeyRanges}
import io.zcube.sql.errors.ZCubeErrors

/** The files of a snapshot that a WHERE selects. */
final class DeltaSelection(version: DeltaVersion, where: WhereClause) extends FileSelection {

  private val snapshot = version.snapshot
  private val since = new CommitsSincePlan(
    snapshot,
    version.table.name,
    version.table.catalogTable,
    path => known.forall(_.contains(path)))
  private lazy val logged = LoggedStatistics.of(SparkSession.active, snapshot, where.filters)

  /** The files that WHERE selects, or those of the whole table, once they are known. */
  @volatile private var known: Option[FileFilter] = None

  /** Log actions of files that are scanned or rewritten. All of them would take gigabytes. */
  private val actions = new ConcurrentHashMap[String, AddFile]

  override def files(layout: Option[LayoutTag]): Seq[DataFile] = {
    val found = logged.files(layout.map(new CubeTags(_)))
    known = Some(FileFilter(found.iterator.map(_.path)))
    found
  }

  override def ranges(columns: Seq[ColumnPath]): String => KeyRanges = {
    // For the whole table, requesting each file by name gains nothing.
    val named = Option.when(where.picks)(selected)
    val ranges = PlanningRanges.of(SparkSession.active, columns, logged.parsed(named))
    ranges.of
  }

  override def outside(cubes: Set[String]): OutsideWhere =
    FilesOutside.of(SparkSession.active, snapshot, selected, cubes)

  override def statistics(
      columns: Seq[ColumnPath],
      paths: Option[collection.Set[String]]): FileStatistics =
    LoggedFileStatistics.ofPaths(
      snapshot,
      logged,
      columns,
      paths.getOrElse(logged.paths))

  override def scanGroups(session: SparkSession, groups: Seq[Seq[DataFile]]): FileScan =
    InputRows.of(session, version.table.name, snapshot, groups.map(actionsOf))

  override def begin(session: SparkSession, files: Seq[DataFile]): DeltaRewrite =
    new DeltaRewrite(
      session,
      version.table.name,
      version.table.catalogTable,
      snapshot,
      where,
      actionsOf(files),
      since)

  override def conflictOf(files: Seq[DataFile]): Option[ConcurrentModificationException] =
    since.conflictOf(files.map(_.path))

  private def selected: FileFilter = known.getOrElse {
    val all = FileFilter(logged.paths.iterator)
    known = Some(all)
    all
  }

  override def prepare(files: Seq[DataFile]): Unit = {
    val missing = files.iterator.map(_.path).filterNot(actions.containsKey(_)).toSeq
    if (missing.nonEmpty) {
      if (where.picks) missing.find(!selected.contains(_)).foreach(refuse)
      logged.actions(FileFilter(missing.iterator)).foreach(file => actions.put(file.path, file))
    }
  }

  override def release(files: Seq[DataFile]): Unit =
    files.foreach(file => actions.remove(file.path))

  private def actionsOf(files: Seq[DataFile]): Seq[AddFile] = {
    prepare(files)
    files.map(file => Option(actions.get(file.path)).getOrElse(refuse(file.path)))
  }

  private def refuse(path: String): Nothing =
    throw ZCubeErrors.internal(s"$path is not of this selection")
}
