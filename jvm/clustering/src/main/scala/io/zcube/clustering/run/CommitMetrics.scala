package io.zcube.clustering.run

import io.zcube.planning.PlannedFile
import io.zcube.quality.LayoutQuality

/** What a commit records in the table's history. The operationMetrics are integers, because readers
  * cast them to BIGINT: Delta's OPTIMIZE metrics, under the same names, and some of ZCube's own.
  * Everything else goes into the operationParameters, next to Delta's.
  */
object CommitMetrics {

  val CpuTimeMs = "cpuTimeMs"

  /** What `ours` and `parameters` may record, with its meaning: docs/reference.md. */
  val described: Seq[(String, String)] = Seq(
    "cubeId" -> "The ZCube that was written; several, separated by commas, if the commit has several.",
    "reasons" -> "JSON: reason → number of files rewritten for it.",
    "averageDepthBefore" -> "Average depth of the removed files among themselves, in all clustering columns together.",
    "averageDepthAfter" -> "The same of the added files.",
    "skippingEffectivenessBefore" -> "Share of the removed files that a search for a file's lower corner skips.",
    "skippingEffectivenessAfter" -> "The same of the added files.",
    "samplingTimeMs" -> "Milliseconds spent on sampling, summed over the commit's cubes.",
    "writingTimeMs" -> "Milliseconds spent on writing, summed over the commit's cubes.",
    CpuTimeMs -> "CPU time in milliseconds of the Spark tasks that sampled and wrote; missing if Spark's events lag behind."
  )

  /** Metrics that Delta doesn't have. Times and CPU time are in milliseconds, summed over the
    * commit's cubes, as far as known.
    */
  def ours(groups: Seq[RewriteResult]): Map[String, String] = {
    val figures = groups.map(_.metrics)
    val cpu = figures.map(_.cpuMs)
    Map(
      "samplingTimeMs" -> figures.map(_.samplingMs).sum.toString,
      "writingTimeMs" -> figures.map(_.writingMs).sum.toString
    ) ++ Option.when(cpu.forall(_.isDefined))(CpuTimeMs -> cpu.flatten.sum.toString)
  }

  /** Parameters that Delta doesn't have. Quality is measured among the removed files and among the
    * added files, in all clustering columns together, averaged over files.
    */
  def parameters(groups: Seq[RewriteResult]): Map[String, String] = {
    val figures = groups.map(_.metrics)
    Map(
      "cubeId" -> groups.flatMap(_.cubes).map(_.id).mkString(","),
      "reasons" -> JsonText.of(PlannedFile.counts(groups.flatMap(_.group.planned.files)))
    ) ++
      quality("Before", figures.flatMap(_.before)) ++
      quality("After", figures.flatMap(_.after))
  }

  private def quality(when: String, measured: Seq[LayoutQuality]): Map[String, String] = {
    def average(figure: LayoutQuality => Option[Double]): Option[String] = {
      val known =
        measured.flatMap(quality => figure(quality).map(_ -> quality.filesWithStats.toLong))
      val files = known.map(_._2).sum
      // A single figure is recorded exactly.
      if (known.size == 1) Some(known.head._1.toString)
      else Option.when(files > 0)((known.map { case (v, n) => v * n }.sum / files).toString)
    }
    Map.empty[String, String] ++
      average(_.averageDepth).map(s"averageDepth$when" -> _) ++
      average(_.skippingEffectiveness).map(s"skippingEffectiveness$when" -> _)
  }
}
