package io.zcube.clustering.plan

import io.zcube.planning.{DataFile, PlannedGroup}

/** Files of one partition that are rewritten together, into one ZCube or several.
  *
  * @param planned the plan's decision about them
  * @param number  its first cube's number in the run's plan, starting at 1
  * @param total   the number of cubes in the run
  */
final case class RewriteGroup(planned: PlannedGroup, number: Int, total: Int) {

  /** Ordered by path, so that nothing depends on the order of the log. */
  val files: Seq[DataFile] = planned.files.map(_.file).sortBy(_.path)

  /** The number of cubes that are planned for it. */
  def cubes: Int = planned.cubes

  def partition: Map[String, String] = files.head.partition

  /** Bytes of the rows that are not deleted by a deletion vector. */
  val liveBytes: Long = planned.bytes

  /** Rows, if every file has statistics. */
  val rows: Option[Long] = DataFile.rowsOf(files)

  /** Bytes of the files, deleted rows included. */
  val storedBytes: Long = files.map(_.storedBytes).sum

  /** ` in partition (a=1, b=2)`, or nothing. */
  def label: String =
    if (partition.isEmpty) ""
    else partition.map { case (k, v) => s"$k=$v" }.mkString(" in partition (", ", ", ")")
}
