package io.zcube.clustering.run

import io.zcube.clustering.plan.RewriteGroup
import io.zcube.clustering.table.{NewCube, RewrittenGroup}
import io.zcube.planning.DataFile
import io.zcube.quality.LayoutQuality

/** A group of files with the ZCubes that replace them, and what that took. */
final case class RewriteResult(
    group: RewriteGroup,
    cubes: Seq[NewCube],
    metrics: RewriteMetrics) {

  def removed: Seq[DataFile] = group.files

  def added: Seq[DataFile] = rewritten.added

  /** For log lines: the first one's id, and how many there are. */
  def cubeIds: String = cubes match {
    case Seq() => "none"
    case Seq(one) => one.id
    case several => s"${several.head.id} and ${several.size - 1} more"
  }

  def addedBytes: Long = added.map(_.storedBytes).sum

  val rewritten: RewrittenGroup = RewrittenGroup(group.number, removed, cubes)
}

/** Metrics of a group's rewrite, for the history and the report.
  *
  * @param samplingMs milliseconds from the start of the sampling job until the layout is made
  * @param writingMs  milliseconds of the writing job
  * @param cpuMs      CPU milliseconds of all tasks; None if Spark's events came too late
  * @param before     quality of the files that were rewritten, among themselves, in all clustering
  *                   columns together; None if it was too expensive to compute, as for `after`
  * @param after      quality of the written files, among themselves
  */
final case class RewriteMetrics(
    samplingMs: Long,
    writingMs: Long,
    cpuMs: Option[Long],
    before: Option[LayoutQuality] = None,
    after: Option[LayoutQuality] = None) {

  /** Divides the times of shared jobs among groups by weight; the parts add up to the whole. */
  def among(weights: Seq[Long]): Seq[RewriteMetrics] =
    if (weights.size == 1) Seq(this)
    else {
      val upTo = weights.scanLeft(0.0)(_ + math.max(1L, _))
      def parts(whole: Long): Seq[Long] = {
        val ends = upTo.map(end => math.round(whole * (end / upTo.last)))
        ends.zip(ends.drop(1)).map { case (start, end) => end - start }
      }
      val (sampling, writing) = (parts(samplingMs), parts(writingMs))
      val cpu = cpuMs.map(parts)
      weights.indices.map(i => RewriteMetrics(sampling(i), writing(i), cpu.map(_(i))))
    }
}
