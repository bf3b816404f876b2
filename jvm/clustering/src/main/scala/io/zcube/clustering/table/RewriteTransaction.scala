package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.planning.DataFile

/** An atomic rewrite. Several threads write files for each group; then all files are committed at
  * once, or the transaction is aborted.
  */
trait RewriteTransaction {

  /** Writes one file for each partition of the rows' shuffle, and returns the files in that order.
    * When it throws, none of its tasks is running any more.
    *
    * @param rows      the rows, as in [[FileScan.written]]
    * @param partition the table partition that contains all of the rows
    */
  final def write(rows: LogicalPlan, partition: Map[String, String]): Seq[DataFile] =
    writeGroups(rows, _ => partition).sortBy(_.part).map(_.file)

  /** The same for rows of several table partitions.
    *
    * @param partitionOf from the number of a shuffle partition to the table partition of its rows
    */
  def writeGroups(
      rows: LogicalPlan,
      partitionOf: Int => Map[String, String]): Seq[RewriteTransaction.Written]

  /** Counts the rows of files that it wrote by reading them. */
  def countRows(written: Seq[DataFile]): Long

  /** The statistics of files that it wrote. */
  def statistics(written: Seq[DataFile], columns: Seq[ColumnPath]): FileStatistics

  /** Commits once, and retries if others committed meanwhile without touching the rewritten files.
    * Never throws: whatever went wrong, the table decides the outcome.
    *
    * After [[CommitResult.Rejected]] that invalidates only some groups, it may be called again with
    * the others.
    *
    * @param groups everything that is written, except what was [[discard]]ed
    */
  def commit(groups: Seq[RewrittenGroup], summary: CommitSummary): CommitResult

  /** Removes written files of groups that certainly are not and will not be committed, after
    * [[CommitResult.Rejected]]. Never throws for a file that can't be removed.
    */
  def discard(written: Seq[DataFile]): Unit

  /** Removes what was written. Call it only if certainly nothing is or will be committed: before
    * [[commit]], or after [[CommitResult.Rejected]]. Never throws for a file that can't be removed.
    */
  def abort(): Unit
}

object RewriteTransaction {

  /** @param part the number of the shuffle partition whose rows it has */
  final case class Written(part: Int, file: DataFile)
}

/** A group of files and the ZCubes that replace them: all of them, or none.
  *
  * @param number identifies the group in its transaction
  * @param cubes  none if no row is left
  */
final case class RewrittenGroup(number: Int, removed: Seq[DataFile], cubes: Seq[NewCube]) {

  def added: Seq[DataFile] = cubes.flatMap(_.files)
}

/** The files of a new ZCube.
  *
  * @param overlapping the job that made it, if others make cubes that overlap it
  *   ([[io.zcube.planning.CubeTag]])
  */
final case class NewCube(id: String, files: Seq[DataFile], overlapping: Option[String] = None)

/** What a table's history records for a commit.
  *
  * @param layout     the new files' tags
  * @param isFull     whether FULL was given
  * @param isAuto     whether it is auto compaction after a write, not a statement
  * @param metrics    integers
  * @param parameters strings
  */
final case class CommitSummary(
    layout: LayoutTag,
    isFull: Boolean,
    isAuto: Boolean,
    metrics: Map[String, String],
    parameters: Map[String, String])
