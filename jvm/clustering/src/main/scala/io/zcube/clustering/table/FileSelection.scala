package io.zcube.clustering.table

import org.apache.spark.sql.classic.SparkSession

import io.zcube.planning.{DataFile, KeyRanges}

/** The files of one version that a WHERE picks. Metadata is read when it is asked for, so that nothing
  * is paid for what a plan doesn't need.
  *
  * Methods that take files take only those that [[files]] gave.
  */
trait FileSelection {

  /** All of them, without their extents.
    *
    * @param layout a file's [[io.zcube.planning.CubeTag]] says whether its cube was laid out so; for None
    *               no file has one
    */
  def files(layout: Option[LayoutTag]): Seq[DataFile]

  /** The extents of the files in some columns, by their paths. */
  def ranges(columns: Seq[ColumnPath]): String => KeyRanges

  /** What the WHERE leaves out of these cubes, which have files on both sides, by their ids. */
  def outside(cubes: Set[String]): OutsideWhere

  /** @param paths those of the files asked about; None for all */
  def statistics(columns: Seq[ColumnPath], paths: Option[collection.Set[String]]): FileStatistics

  /** The rows of some files. What the format's deletions removed is not among them.
    *
    * @param session made for reading and writing by a layout, active on the calling thread
    */
  final def scan(session: SparkSession, files: Seq[DataFile]): FileScan =
    scanGroups(session, Seq(files))

  /** The rows of several groups of files at once. Of more than one group each row tells which it is of
    * ([[FileScan.group]]).
    */
  def scanGroups(session: SparkSession, groups: Seq[Seq[DataFile]]): FileScan

  /** A transaction that rewrites some files. Its commit fails if one of them, or what WHERE picks, was
    * changed since in a way that the rewrite would undo.
    */
  def begin(session: SparkSession, files: Seq[DataFile]): RewriteTransaction
}
