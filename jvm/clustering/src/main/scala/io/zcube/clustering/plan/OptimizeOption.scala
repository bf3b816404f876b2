package io.zcube.clustering.plan

import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.MergePolicy

/** An option of OPTIMIZE, as docs/reference.md describes it.
  *
  * @param name    as users write it; case doesn't matter
  * @param values  the values that it takes
  * @param default what applies without it
  * @param meaning what it does
  */
final case class OptimizeOption(name: String, values: String, default: String, meaning: String)

object OptimizeOption {

  /** The statement's WHERE as a string, for programs. The format treats it like the clause. */
  val Where = "where"

  /** All options, in the order in which they are documented. */
  val all: Seq[OptimizeOption] = Seq(
    OptimizeOption(
      "curve",
      code(LayoutKind.all.map(_.name)),
      "`spark.zcube.layout.curve`",
      "The layout. It applies to new cubes; with `FULL` or ZORDER BY, files with another curve are rewritten too."
    ),
    OptimizeOption(
      "weights",
      "`'x=3,y=1'`",
      "equal",
      "How often queries filter by each column; only the ratios count. With the curve `kdtree` only."),
    OptimizeOption(
      "workload",
      """a JSON list, `'["x = 5", {"predicate": "y < 3", "weight": 2}]'`""",
      "none",
      "Predicates of known queries, for which the files are cut. With the curve `kdtree` only."
    ),
    OptimizeOption(
      "mergePolicy",
      code(MergePolicy.all.map(_.name)),
      "`spark.zcube.merge.policy`",
      "How ZCubes are merged."),
    OptimizeOption(
      "maxBytes",
      "a size, `'200g'`",
      "no limit",
      "The most bytes that this run rewrites. New files come first; the rest is left for the next run."
    ),
    OptimizeOption(
      "maxDuration",
      "a duration with its unit, `'45min'`",
      "no limit",
      "The time after which no new job starts. Jobs that have begun are finished and committed."
    ),
    OptimizeOption(
      "minCubeSize",
      "a size",
      "Delta's `….minCubeSize.threshold`, 100 GB",
      "A cube of this size is stable: nothing is merged into it any more."),
    OptimizeOption(
      "targetCubeSize",
      "a size",
      "Delta's `….minCubeSize.targetCubeSize`, 150 GB",
      "The size up to which a cube is filled."),
    OptimizeOption(
      "maxFileSize",
      "a size",
      "`spark.databricks.delta.optimize.maxFileSize`, 1 GB",
      "The target size of the files."),
    OptimizeOption(
      Where,
      "a predicate as a string",
      "none",
      "The same as the clause WHERE, for programs."),
    OptimizeOption(
      "forecast",
      "`true`, `false`",
      "`false`",
      "With DRY RUN only: sample the data, and estimate what queries will skip afterwards."),
    OptimizeOption(
      "details",
      "`true`, `false`",
      "`false`",
      "Adds the column `details` to the result: JSON with the outcome of each job and its cubes.")
  )

  private def code(names: Seq[String]): String = names.map(name => s"`$name`").mkString(", ")
}
