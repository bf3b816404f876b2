package io.zcube.clustering.report

import io.zcube.clustering.plan.RewriteGroup
import io.zcube.clustering.run.{GroupOutcome, JsonText, RunResult}
import io.zcube.planning.{FileReason, PlannedFile}
import io.zcube.quality.LayoutQuality

/** The column `details` of OPTIMIZE's result. */
object RunDetails {

  /** The outcome of each group, which users know as `cubes`, and the files that stay. */
  def json(result: RunResult, workload: WorkloadReport): String = {
    val RunResult(plan, outcomes, _) = result
    val groups = outcomes.map { outcome =>
      val group = outcome.group
      val planned = Map[String, Any](
        "partition" -> group.partition,
        "files" -> group.files.size,
        "bytes" -> group.storedBytes,
        "reasons" -> PlannedFile.counts(group.planned.files))
      planned ++ (outcome match {
        case GroupOutcome.Committed(rewritten, version, committingMs) =>
          val figures = rewritten.metrics
          Map[String, Any](
            "state" -> "committed",
            "id" -> rewritten.cubes.headOption.map(_.id).orNull,
            "ids" -> rewritten.cubes.map(_.id),
            "version" -> version,
            "filesAdded" -> rewritten.added.size,
            "bytesAdded" -> rewritten.addedBytes,
            "samplingMs" -> figures.samplingMs,
            "writingMs" -> figures.writingMs,
            "committingMs" -> committingMs
          ) ++ figures.cpuMs.map("cpuMs" -> _) ++
            figures.before.map("before" -> quality(_)) ++
            figures.after.map("after" -> quality(_))
        case GroupOutcome.Dropped(_, conflict) =>
          Map(
            "state" -> "dropped",
            "why" -> Option(conflict.getMessage).getOrElse(conflict.toString))
        case GroupOutcome.NotStarted(_) => Map("state" -> "left", "why" -> "maxDuration is over")
      })
    }
    val over = plan.plan.overBudget
    JsonText.of(
      Map[String, Any](
        "cubes" -> groups,
        "kept" -> kept(result),
        "left" -> Map[String, Any](
          "files" -> (over.size + notStarted(outcomes).map(_.files.size).sum),
          "bytes" -> (over.map(_.file.storedBytes).sum + notStarted(
            outcomes).map(_.storedBytes).sum)
        ),
        "workload" -> workload.after()
      ))
  }

  /** What this run made, and must be rewritten once more, stays for now like other files. */
  private def kept(result: RunResult): Map[String, Long] = {
    val (planned, made) = (result.plan.kept, result.overlapping)
    val reason = FileReason.KeptOverlapping.text
    if (made == 0) planned else planned + (reason -> (planned.getOrElse(reason, 0L) + made))
  }

  private def quality(measured: LayoutQuality): Map[String, Any] = Map.empty[String, Any] ++
    measured.averageDepth.map("averageDepth" -> _) ++
    measured.skippingEffectiveness.map("skippingEffectiveness" -> _)

  private def notStarted(outcomes: Seq[GroupOutcome]): Seq[RewriteGroup] =
    outcomes.collect { case GroupOutcome.NotStarted(group) => group }
}
