package io.zcube.clustering.plan

import java.util.Locale
import java.util.concurrent.TimeUnit

import scala.util.Try

import org.apache.spark.network.util.{ByteUnit, JavaUtils}

import io.zcube.layout.ColumnWeights
import io.zcube.layout.kinds.LayoutKind
import io.zcube.planning.{MergePolicy, PlanOptions}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.predicates.ParsedQuery

/** The OPTIONS of OPTIMIZE; the session's settings are the defaults.
  *
  * @param curve          the curve of the layout
  * @param weights        weights of columns, by the parts of their names
  * @param workload       predicates that should skip files
  * @param mergePolicy    how cubes are merged
  * @param maxBytes       maximum number of bytes of rows that aren't deleted that this run rewrites
  * @param maxDuration    milliseconds after which nothing new starts
  * @param minCubeSize    bytes from which a cube is stable
  * @param targetCubeSize bytes up to which a cube is filled
  * @param maxFileSize    bytes of the files to write
  * @param details        whether the result has a third column with details of each cube
  * @param forecast       whether a dry run samples the data to predict what queries will skip
  * @param namesLayout    whether the statement itself names curve, weights or workload
  */
final case class OptimizeOptions(
    curve: LayoutKind,
    weights: Seq[(Seq[String], Double)],
    workload: Seq[ParsedQuery],
    mergePolicy: Option[MergePolicy],
    maxBytes: Option[Long],
    maxDuration: Option[Long],
    minCubeSize: Option[Long],
    targetCubeSize: Option[Long],
    maxFileSize: Option[Long],
    details: Boolean,
    forecast: Boolean = false,
    namesLayout: Boolean = false) {
  import OptimizeOptions._

  /** What planning needs: the session's, but for what the statement says. */
  def over(plan: PlanOptions): PlanOptions = plan.copy(
    policy = mergePolicy.getOrElse(plan.policy),
    targetFileBytes = maxFileSize.getOrElse(plan.targetFileBytes),
    minCubeBytes = minCubeSize.getOrElse(plan.minCubeBytes),
    targetCubeBytes = targetCubeSize.getOrElse(plan.targetCubeBytes),
    maxBytes = maxBytes.orElse(plan.maxBytes)
  )

  /** Rejects sizes that no plan can keep.
    *
    * The target size of cubes must not be below the stable size. For settings, the plan uses the
    * larger of the two, as Delta does; but a target in the statement is intentional, so it is
    * rejected.
    */
  def check(plan: PlanOptions): Unit = {
    val planned = over(plan)
    checkFileSize(planned)
    val min = planned.minCubeBytes
    targetCubeSize.filter(_ < min).foreach { target =>
      throw ZCubeErrors.invalidOption(
        "targetCubeSize",
        target.toString,
        s"at least minCubeSize, which is $min bytes here")
    }
  }
}

object OptimizeOptions {

  private val Size = "a size above 0 bytes, such as 1073741824 or '10g'"

  /** The names of all options. */
  val names: Seq[String] = OptimizeOption.all.map(_.name)

  /** Rejects unknown options, invalid values, and options given twice. */
  def check(options: Seq[(String, String)]): Unit = {
    // The default curve isn't known yet, so weights and workload must not be rejected because of
    // it.
    val _ = of(options, LayoutKind.KdTree)
  }

  /** Rejects a setting of 0, which Delta takes, and of which its own OPTIMIZE makes an error, too. */
  def checkFileSize(plan: PlanOptions): Unit = if (plan.targetFileBytes <= 0) {
    throw ZCubeErrors.invalidOption(
      "maxFileSize",
      plan.targetFileBytes.toString,
      "a size above 0 bytes; without it, spark.databricks.delta.optimize.maxFileSize applies")
  }

  /** Parses the options.
    *
    * @param options      as the user wrote them; keys are case-insensitive
    * @param defaultCurve the curve if no option names one
    */
  def of(options: Seq[(String, String)], defaultCurve: LayoutKind): OptimizeOptions = {
    val byKey = options.groupBy(_._1.toLowerCase(Locale.ROOT))
    byKey.foreach { case (key, given) =>
      val (asWritten, value) = given.head
      if (!names.exists(_.equalsIgnoreCase(key))) throw ZCubeErrors.unknownOption(asWritten, names)
      if (given.size > 1) throw ZCubeErrors.invalidOption(asWritten, value, "given once")
    }
    def read[T](name: String, expected: String)(parse: String => Option[T]): Option[T] =
      byKey.get(name.toLowerCase(Locale.ROOT)).map(_.head).map { case (key, value) =>
        parse(value).getOrElse(throw ZCubeErrors.invalidOption(key, value, expected))
      }
    def size(name: String): Option[Long] = read(name, Size) { value =>
      Try(JavaUtils.byteStringAs(value.trim, ByteUnit.BYTE)).toOption.filter(_ > 0)
    }
    val named = read("curve", LayoutKind.names)(LayoutKind.find)
    val curve = named.getOrElse(defaultCurve)
    val weights = read("weights", ColumnWeights.Expected)(ColumnWeights.parse)
    if (weights.isDefined && !curve.takesWeights) throw ZCubeErrors.weightsNotTaken(curve.name)
    val workload = read("workload", ParsedQuery.Expected)(ParsedQuery.parseList)
    if (workload.isDefined && !curve.takesWorkload) throw ZCubeErrors.workloadNotTaken(curve.name)
    OptimizeOptions(
      curve = curve,
      weights = weights.getOrElse(Nil),
      workload = workload.getOrElse(Nil),
      mergePolicy = read("mergePolicy", MergePolicy.names)(
        MergePolicy.find),
      maxBytes = size("maxBytes"),
      maxDuration = read("maxDuration", "a duration such as '90s', '10min' or '2h'")(duration),
      minCubeSize = size("minCubeSize"),
      targetCubeSize = size("targetCubeSize"),
      maxFileSize = size("maxFileSize"),
      details = wantsDetails(options),
      forecast = read("forecast", "true or false")(_.trim.toBooleanOption).getOrElse(false),
      namesLayout = named.isDefined || weights.isDefined || workload.isDefined
    )
  }

  /** Read before the options are checked, because the command's output columns depend on it. */
  def wantsDetails(options: Seq[(String, String)]): Boolean =
    options.collectFirst { case (key, value) if key.equalsIgnoreCase("details") => value }
      .exists(value =>
        value.trim.toBooleanOption.getOrElse(
          throw ZCubeErrors.invalidOption("details", value, "true or false")))

  private def duration(text: String): Option[Long] = {
    val trimmed = text.trim
    // Spark reads a bare number in a unit that a user would have to guess.
    if (trimmed.forall(_.isDigit)) None
    else Try(JavaUtils.timeStringAs(trimmed, TimeUnit.MILLISECONDS)).toOption.filter(_ > 0)
  }
}

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
      "How often queries filter by each column; only the ratios count. With the curve " +
        s"`${LayoutKind.namesWithWeights}` only."
    ),
    OptimizeOption(
      "workload",
      """a JSON list, `'["x = 5", {"predicate": "y < 3", "weight": 2}]'`""",
      "none",
      "Predicates of known queries, for which the files are cut. With the curve " +
        s"`${LayoutKind.namesWithWorkload}` only."
    ),
    OptimizeOption(
      "mergePolicy",
      code(MergePolicy.all.map(_.name)),
      "`spark.zcube.merge.policy`",
      "How ZCubes are merged. FULL merges all that may be merged, whatever this is."
    ),
    OptimizeOption(
      "maxBytes",
      "a size, `'200g'`",
      "no limit",
      "The most bytes of rows that aren't deleted that this run rewrites. New files come first; the rest is " +
        "left for the next run, but FULL with ZORDER BY rewrites the same files again once all are in the " +
        "layout."
    ),
    OptimizeOption(
      "maxDuration",
      "a duration with its unit, `'45min'`",
      "no limit",
      "The time after which no job starts. What has begun is finished and committed; with `spark.databricks.delta.optimize.batchSize`, " +
        "a batch is finished. DRY RUN shows what would be done without it."
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
      "Adds the column `details` to the result: JSON with the outcome of each group and its cubes. DRY RUN has columns of its own."
    )
  )

  private def code(names: Seq[String]): String = names.map(name => s"`$name`").mkString(", ")
}
