package org.apache.spark.sql.delta.zcube.format

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.commit.DeltaRewrite
import org.apache.spark.sql.delta.zcube.table._
import org.apache.spark.sql.delta.zcube.write.InputRows

import io.zcube.clustering.table._
import io.zcube.planning.{DataFile, KeyRanges}

/** The files of a snapshot that a WHERE picks. */
final class DeltaSelection(version: DeltaVersion, where: WhereClause) extends FileSelection {

  private val snapshot = version.snapshot
  private lazy val logged = LoggedStatistics.of(SparkSession.active, snapshot, where.filters)
  private lazy val picked: Seq[AddFile] = logged.files
  private lazy val byPath: Map[String, AddFile] = picked.iterator.map(f => f.path -> f).toMap

  override def files(layout: LayoutTag): Seq[DataFile] = {
    val tags = new CubeTags(layout)
    picked.map(file => DataFiles.of(file, tags.read(file)))
  }

  override def ranges(columns: Seq[ColumnPath]): String => KeyRanges = {
    // Of a table as a whole nothing is gained by asking for each file by name.
    val named = Option.when(where.picks)(FileFilter(picked.iterator.map(_.path)))
    val ranges = PlanningRanges.of(SparkSession.active, columns, logged.parsed(named))
    ranges.of
  }

  override def outside(cubes: Set[String]): OutsideWhere =
    FilesOutside.of(SparkSession.active, snapshot, picked.map(_.path), cubes)

  override def statistics(
      columns: Seq[ColumnPath],
      paths: Option[collection.Set[String]]): FileStatistics =
    LoggedFileStatistics.ofPaths(
      snapshot,
      logged,
      columns,
      paths.getOrElse(picked.iterator.map(_.path).toSet))

  override def scan(session: SparkSession, files: Seq[DataFile]): FileScan =
    InputRows.of(session, snapshot, actionsOf(files))

  override def begin(session: SparkSession, files: Seq[DataFile]): DeltaRewrite =
    new DeltaRewrite(
      session,
      version.table.name,
      version.table.catalogTable,
      snapshot,
      where,
      actionsOf(files))

  private def actionsOf(files: Seq[DataFile]): Seq[AddFile] = files.map(f => byPath(f.path))
}
