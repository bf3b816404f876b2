package io.zcube.clustering.plan

import io.zcube.planning.{DataFile, PlannedCube}

/** Files of one partition that are rewritten together into one ZCube.
  *
  * @param planned the plan's decision about them
  * @param number  the position in the run's plan, starting at 1
  * @param of      the number of groups in the run
  */
final case class RewriteGroup(planned: PlannedCube, number: Int, of: Int) {

  /** Ordered by path, so that nothing depends on the order of the log. */
  val files: Seq[DataFile] = planned.files.map(_.file).sortBy(_.path)

  def partition: Map[String, String] = files.head.partition

  /** Bytes of the rows that are not deleted by a deletion vector. */
  val liveBytes: Long = planned.bytes

  /** Rows, if every file has statistics. */
  val rows: Option[Long] = {
    val counts = files.map(_.rows)
    Option.when(counts.forall(_.isDefined))(counts.flatten.sum)
  }

  val bytes: Long = files.map(_.storedBytes).sum

  /** ` in partition (a=1, b=2)`, or nothing. */
  def label: String =
    if (partition.isEmpty) ""
    else partition.map { case (k, v) => s"$k=$v" }.mkString(" in partition (", ", ", ")")
}
