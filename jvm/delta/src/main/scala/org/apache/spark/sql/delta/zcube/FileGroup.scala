package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile

/** Files of one partition, which are rewritten together.
  *
  * @param files in the order of their paths, so that nothing depends on the order of the log
  */
final case class FileGroup(partitionValues: Map[String, String], files: Seq[AddFile]) {

  /** Bytes of the rows that are not deleted by a deletion vector. */
  val liveBytes: Long = files.map { file =>
    (file.size * (1.0 - file.deletedToPhysicalRecordsRatio.getOrElse(0.0))).toLong
  }.sum

  /** Rows, if every file has statistics. */
  val rows: Option[Long] = {
    val counts = files.map(_.numLogicalRecords)
    Option.when(counts.forall(_.isDefined))(counts.flatten.sum)
  }

  val bytes: Long = files.map(_.size).sum

  /** ` in partition (a=1, b=2)`, or nothing. */
  def label: String =
    if (partitionValues.isEmpty) ""
    else partitionValues.map { case (k, v) => s"$k=$v" }.mkString(" in partition (", ", ", ")")
}

object FileGroup {

  /** Files by partition. Partition values are compared by type, as Delta does, so that two spellings
    * of one timestamp are one partition.
    */
  def byPartition(
      session: SparkSession,
      snapshot: Snapshot,
      files: Seq[AddFile]): Seq[FileGroup] = {
    val schema = snapshot.metadata.physicalPartitionSchema
    files
      .groupBy(_.normalizedPartitionValues(session, schema))
      .values
      .map(_.sortBy(_.path))
      .map(group => FileGroup(group.head.partitionValues, group))
      .toSeq
      .sortBy(_.files.head.path)
  }
}
