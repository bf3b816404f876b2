package io.zcube.clustering.table

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.zcube.planning.DataFile

/** One atomic rewrite. Files are written for each group, by several threads at once, and then all are
  * committed once, or the transaction is aborted.
  */
trait RewriteTransaction {

  /** Writes one file for each partition of the rows' shuffle. When it throws, no task of it runs any
    * more.
    *
    * @param rows      as [[FileScan.written]] has them
    * @param partition of the table, which all of the rows are in
    */
  final def write(rows: LogicalPlan, partition: Map[String, String]): Seq[DataFile] =
    writeGroups(rows, _ => partition).map(_.file)

  /** The same for rows of several partitions of the table.
    *
    * @param partitionOf the table's partition that the rows of a partition of the shuffle are in, by its
    *                    number
    */
  def writeGroups(
      rows: LogicalPlan,
      partitionOf: Int => Map[String, String]): Seq[RewriteTransaction.Written]

  /** The rows of files that it wrote, by reading them. */
  def countRows(written: Seq[DataFile]): Long

  /** What is known of files that it wrote. */
  def statistics(written: Seq[DataFile], columns: Seq[ColumnPath]): FileStatistics

  /** Commits once, and tries again where others committed meanwhile and left the rewritten files alone.
    * Never throws: whatever went wrong, the table says how it ended.
    *
    * After [[CommitResult.Refused]] with only some cubes void it may be called again, with the others.
    *
    * @param cubes all that is written, but for what was [[discard]]ed
    */
  def commit(cubes: Seq[NewCube], summary: CommitSummary): CommitResult

  /** Removes files that it wrote, of cubes that surely are not and will not be committed: after
    * [[CommitResult.Refused]]. Never throws for a file that can't be removed.
    */
  def discard(written: Seq[DataFile]): Unit

  /** Removes what was written. Only where surely nothing is committed and nothing will be: before
    * [[commit]], or after [[CommitResult.Refused]]. Never throws for a file that can't be removed.
    */
  def abort(): Unit
}

object RewriteTransaction {

  /** @param part the number of the partition of the shuffle whose rows it has */
  final case class Written(part: Int, file: DataFile)
}

/** A group of files and the files of the ZCube that take their place. */
final case class NewCube(id: String, removed: Seq[DataFile], added: Seq[DataFile])

/** What a table's history is to say of a commit.
  *
  * @param layout     what the new files' tags say
  * @param isFull     whether FULL was said
  * @param isAuto     whether it is auto compaction after a write, not a statement
  * @param startedAt  of the run, in milliseconds since 1970
  * @param metrics    whole numbers
  * @param parameters text
  */
final case class CommitSummary(
    layout: LayoutTag,
    isFull: Boolean,
    isAuto: Boolean,
    startedAt: Long,
    metrics: Map[String, String],
    parameters: Map[String, String])
