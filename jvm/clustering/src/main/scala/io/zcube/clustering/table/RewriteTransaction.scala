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
  def write(rows: LogicalPlan, partition: Map[String, String]): Seq[DataFile]

  /** The rows of files that it wrote, by reading them. */
  def countRows(written: Seq[DataFile]): Long

  /** What is known of files that it wrote. */
  def statistics(written: Seq[DataFile], columns: Seq[ColumnPath]): FileStatistics

  /** Commits once, and tries again where others committed meanwhile and left the rewritten files alone.
    * Never throws: whatever went wrong, the table says how it ended.
    */
  def commit(cubes: Seq[NewCube], summary: CommitSummary): CommitResult

  /** Removes what was written. Only where surely nothing is committed and nothing will be: before
    * [[commit]], or after [[CommitResult.Refused]]. Never throws for a file that can't be removed.
    */
  def abort(): Unit
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
