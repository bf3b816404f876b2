package org.apache.spark.sql.delta.zcube.format

import java.util.Arrays

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.commit.{DeltaRewrite, OwnCommits}
import org.apache.spark.sql.delta.zcube.table._
import org.apache.spark.sql.delta.zcube.write.InputRows

import io.zcube.clustering.table._
import io.zcube.planning.{DataFile, KeyRanges}
import io.zcube.sql.errors.ZCubeErrors

/** The files of a snapshot that a WHERE selects. */
final class DeltaSelection(version: DeltaVersion, where: WhereClause) extends FileSelection {

  private val snapshot = version.snapshot
  private val own = new OwnCommits(snapshot)
  private lazy val logged = LoggedStatistics.of(SparkSession.active, snapshot, where.filters)
  private lazy val picked: Seq[AddFile] = logged.files

  /** The same in the order of their paths, for binary search: a map would need far more memory. */
  private lazy val sorted: Array[AddFile] = picked.toArray.sortBy(_.path)
  private lazy val paths: Array[String] = sorted.map(_.path)

  override def files(layout: Option[LayoutTag]): Seq[DataFile] = {
    val tags = layout.map(new CubeTags(_))
    picked.map(file => DataFiles.of(file, tags.flatMap(_.read(file))))
  }

  override def ranges(columns: Seq[ColumnPath]): String => KeyRanges = {
    // For the whole table, requesting each file by name gains nothing.
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
      paths.getOrElse(logged.paths))

  override def scanGroups(session: SparkSession, groups: Seq[Seq[DataFile]]): FileScan =
    InputRows.of(session, snapshot, groups.map(actionsOf))

  override def begin(session: SparkSession, files: Seq[DataFile]): DeltaRewrite =
    new DeltaRewrite(
      session,
      version.table.name,
      version.table.catalogTable,
      snapshot,
      where,
      actionsOf(files),
      own)

  private def actionsOf(files: Seq[DataFile]): Seq[AddFile] = files.map { file =>
    val at = Arrays.binarySearch(paths.asInstanceOf[Array[AnyRef]], file.path)
    if (at < 0) throw ZCubeErrors.internal(s"${file.path} is not of this selection")
    sorted(at)
  }
}
