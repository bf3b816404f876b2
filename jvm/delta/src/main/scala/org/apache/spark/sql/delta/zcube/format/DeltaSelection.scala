package org.apache.spark.sql.delta.zcube.format

import java.util.Arrays

import scala.annotation.tailrec

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.zcube.commit.DeltaRewrite
import org.apache.spark.sql.delta.zcube.table._
import org.apache.spark.sql.delta.zcube.write.InputRows

import io.zcube.clustering.table._
import io.zcube.planning.{DataFile, KeyRanges}
import io.zcube.sql.errors.ZCubeErrors

/** The files of a snapshot that a WHERE picks. */
final class DeltaSelection(version: DeltaVersion, where: WhereClause) extends FileSelection {

  private val snapshot = version.snapshot
  private lazy val logged = LoggedStatistics.of(SparkSession.active, snapshot, where.filters)
  private lazy val picked: Seq[AddFile] = logged.files

  /** Looked up by binary search: a map would be as large again as some of the files. */
  private lazy val byPath: Array[AddFile] = {
    val files = picked.toArray
    Arrays.sort(files, Ordering.by((file: AddFile) => file.path))
    files
  }

  override def files(layout: Option[LayoutTag]): Seq[DataFile] = {
    val tags = layout.map(new CubeTags(_))
    picked.map(file => DataFiles.of(file, tags.flatMap(_.read(file))))
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
      paths.getOrElse(logged.paths))

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

  private def actionsOf(files: Seq[DataFile]): Seq[AddFile] = files.map { file =>
    @tailrec
    def search(from: Int, until: Int): AddFile = {
      if (from >= until) throw ZCubeErrors.internal(s"${file.path} is not of this selection")
      val middle = (from + until) >>> 1
      val order = byPath(middle).path.compareTo(file.path)
      if (order == 0) byPath(middle)
      else if (order < 0) search(middle + 1, until)
      else search(from, middle)
    }
    search(0, byPath.length)
  }
}
