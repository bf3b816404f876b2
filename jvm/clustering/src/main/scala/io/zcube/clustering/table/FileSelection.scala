package io.zcube.clustering.table

import java.util.ConcurrentModificationException

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.classic.SparkSession

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.{CubeRest, DataFile, KeyRanges}

/** The files of a version that a WHERE selects. Metadata is read on demand, so a plan doesn't pay
  * for what it doesn't need.
  *
  * Methods with files as arguments accept only files that [[files]] returned.
  */
trait FileSelection {

  /** All selected files, without their ranges.
    *
    * @param layout a file's [[io.zcube.planning.CubeTag]] says whether its cube has this layout;
    *   with None, no file has a tag
    */
  def files(layout: Option[LayoutTag]): Seq[DataFile]

  /** The ranges of the files in some columns, by their paths; empty in a column with only NULLs. */
  def ranges(columns: Seq[ColumnPath]): String => KeyRanges

  /** The excluded parts of these cubes, which WHERE splits, by cube id. */
  def outside(cubes: Set[String]): OutsideWhere

  /** @param paths paths of the requested files; None for all */
  def statistics(columns: Seq[ColumnPath], paths: Option[collection.Set[String]]): FileStatistics

  /** Reads at once what the log has on files that will be scanned or rewritten. Without it, each scan
    * and each transaction reads it for its own files.
    */
  def prepare(files: Seq[DataFile]): Unit = ()

  /** Forgets what [[prepare]] read of these files. */
  def release(files: Seq[DataFile]): Unit = { val _ = files }

  /** The rows of some files, without deleted rows.
    *
    * @param session made for reading and writing a layout, active on the calling thread
    */
  final def scan(session: SparkSession, files: Seq[DataFile]): FileScan =
    scanGroups(session, Seq(files))

  /** The rows of several groups of files at once. If there is more than one group, each row has its
    * group's number ([[FileScan.group]]).
    */
  def scanGroups(session: SparkSession, groups: Seq[Seq[DataFile]]): FileScan

  /** A transaction that rewrites some files. Its commit fails if one of them, or what WHERE
    * selects, was changed since in a way that the rewrite would undo.
    */
  def begin(session: SparkSession, files: Seq[DataFile]): RewriteTransaction

  /** Why a rewrite of these files can't be committed any more, as far as it is known from earlier
    * commits of this selection: then it need not begin. None says nothing.
    */
  def conflictOf(files: Seq[DataFile]): Option[ConcurrentModificationException] = {
    val _ = files
    None
  }
}

/** Summary of the files that a WHERE excludes.
  *
  * @param files number of excluded files
  * @param cubes the excluded part of each cube that WHERE splits, by id
  */
final case class OutsideWhere(files: Long, cubes: Map[String, CubeRest])

object OutsideWhere {

  val Nothing: OutsideWhere = OutsideWhere(0, Map.empty)
}

/** A statement's WHERE.
  *
  * @param written as the user wrote it, for the table's history and the conflict check
  * @param filters conditions that select files, over the table's columns, in the format's form
  */
final case class WhereClause(written: Seq[Expression], filters: Seq[Expression]) {

  /** Whether it may exclude files. */
  def picks: Boolean = filters.nonEmpty
}

object WhereClause {

  /** No WHERE: selects all files. */
  val Everything: WhereClause = WhereClause(Nil, Nil)
}

/** The tags that a file must have to belong to a layout.
  *
  * @param columns  the clustering columns, in their order
  * @param weights of the columns, normalized; empty if all are equal
  * @param workload the fingerprint of the workload, if there is one
  * @param declared whether the columns are the table's own (CLUSTER BY) and not a statement's
  */
final case class LayoutTag(
    columns: Seq[ColumnPath],
    curve: LayoutKind,
    weights: Seq[Double],
    workload: Option[String],
    declared: Boolean)
