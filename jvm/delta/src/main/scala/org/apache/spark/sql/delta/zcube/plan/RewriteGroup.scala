package org.apache.spark.sql.delta.zcube.plan

import org.apache.spark.sql.delta.actions.AddFile

import io.zcube.planning.PlannedCube

/** Files of one partition that are rewritten together into one ZCube.
  *
  * @param files   in the order of their paths, so that nothing depends on the order of the log
  * @param planned what the plan says of them
  * @param number  the place in the run's plan, from 1 on
  * @param of      how many groups the run has
  */
final case class RewriteGroup(
    partitionValues: Map[String, String],
    files: Seq[AddFile],
    planned: PlannedCube,
    number: Int,
    of: Int) {

  /** Bytes of the rows that are not deleted by a deletion vector. */
  val liveBytes: Long = planned.bytes

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

object RewriteGroup {

  def liveBytesOf(file: AddFile): Long =
    (file.size * (1.0 - file.deletedToPhysicalRecordsRatio.getOrElse(0.0))).toLong
}
