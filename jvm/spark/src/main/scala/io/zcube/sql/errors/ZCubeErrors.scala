package io.zcube.sql.errors

import org.apache.spark.sql.types.DataType

import io.zcube.concurrent.Causes
import io.zcube.layout.kinds.LayoutKind

/** The factory of all ZCube errors; their messages are in `error/zcube-error-conditions.json`. */
object ZCubeErrors {

  def clusterInputSizeUnknown(): Throwable =
    analysis("ZCUBE_CLUSTER_INPUT_SIZE_UNKNOWN")

  def clusteringMismatch(requested: Seq[String], existing: Seq[String]): Throwable =
    analysis(
      "ZCUBE_CLUSTERING_MISMATCH",
      "requested" -> requested.mkString(", "),
      "existing" -> (if (existing.isEmpty) "none" else existing.mkString(", ")))

  def columnNotFound(column: String, table: String, known: Seq[String]): Throwable =
    analysis(
      "ZCUBE_COLUMN_NOT_FOUND",
      "column" -> column,
      "table" -> table,
      "known" -> known.mkString(", "))

  /** @param cause what Spark takes for fatal, after a write that is committed */
  def autoCompactionFailed(table: String, cause: Throwable): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_AUTO_COMPACTION_FAILED",
      Map("table" -> table, "what" -> cause.toString),
      cause)

  /** @param tried the versions that may have it
    * @param why   why the outcome is unknown
    */
  def commitUnknown(
      table: String,
      tried: Set[Long],
      readVersion: Long,
      why: String,
      cause: Throwable): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_COMMIT_UNKNOWN",
      Map(
        "table" -> table,
        "versions" -> tried.toSeq.sorted.mkString(" or "),
        "readVersion" -> readVersion.toString,
        "why" -> why,
        "cause" -> innermostMessage(cause)),
      cause
    )

  def commonTableOutside(): Throwable = analysis("ZCUBE_COMMON_TABLE_OUTSIDE")

  /** @param table that has no columns; None if ZCube doesn't run the statement */
  def dryRunNotSupported(table: Option[String]): Throwable =
    notRun("ZCUBE_DRY_RUN_NOT_SUPPORTED", table)

  def forecastNotTaken(): Throwable = analysis("ZCUBE_FORECAST_NOT_TAKEN")

  def hilbertValueOutOfRange(value: Long, bits: Int): Throwable =
    new ZCubeArithmeticException(
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE",
      Map(
        "value" -> value.toString,
        "bits" -> bits.toString,
        "max" -> ((1L << bits) - 1).toString))

  /** @param what the unexpected state, which a user can't fix */
  def internal(what: String, cause: Throwable = null): Throwable =
    new ZCubeExecutionException("ZCUBE_INTERNAL_ERROR", Map("what" -> what), cause)

  def invalidOption(option: String, value: String, expected: String): Throwable =
    analysis("ZCUBE_INVALID_OPTION", "option" -> option, "value" -> value, "expected" -> expected)

  /** @param reason what is wrong with it */
  def invalidPredicate(predicate: String, reason: String): Throwable =
    analysis("ZCUBE_INVALID_PREDICATE", "predicate" -> predicate, "reason" -> reason)

  /** @param files the files whose counts differ, with both counts, as far as known */
  def loggedRowsMismatch(table: String, logged: Long, read: Long, files: Seq[String]): Throwable = {
    val few = files.take(3) ++ Option.when(files.size > 3)(s"${files.size - 3} more files")
    new ZCubeExecutionException(
      "ZCUBE_LOGGED_ROWS_MISMATCH",
      Map(
        "table" -> table,
        "logged" -> logged.toString,
        "read" -> read.toString,
        "files" -> (if (few.isEmpty) "it isn't known in which files" else few.mkString("; ")))
    )
  }

  def noClusteringColumns(table: String): Throwable =
    analysis("ZCUBE_NO_CLUSTERING_COLUMNS", "table" -> table)

  def nondeterministicPredicate(predicate: String): Throwable =
    analysis("ZCUBE_NONDETERMINISTIC_PREDICATE", "predicate" -> predicate)

  def notAClusteringColumn(predicate: String, column: String, known: Seq[String]): Throwable =
    analysis(
      "ZCUBE_NOT_A_CLUSTERING_COLUMN",
      "predicate" -> predicate,
      "column" -> column,
      "known" -> known.mkString(", "))

  def notAText(literal: String): Throwable =
    analysis("ZCUBE_NOT_A_TEXT", "literal" -> literal)

  /** @param form  of the statement
    * @param cause what the next parser says, if it is its error
    */
  def notOfTheForm(form: String, cause: Option[Throwable]): Throwable =
    new ZCubeAnalysisException("ZCUBE_NOT_OF_THE_FORM", Map("form" -> form), cause)

  /** @param table that has no columns; None if ZCube doesn't run the statement */
  def optionsNotSupported(table: Option[String]): Throwable =
    notRun("ZCUBE_OPTIONS_NOT_SUPPORTED", table)

  /** @param reason a subclass of ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED */
  def rangePartitionIdUnsupported(call: String, reason: String): Throwable =
    analysis(s"ZCUBE_RANGE_PARTITION_ID_UNSUPPORTED.$reason", "call" -> call)

  /** @param path with a version */
  def recommendNeedsNewest(path: String): Throwable =
    analysis("ZCUBE_RECOMMEND_NEEDS_NEWEST", "path" -> path)

  /** @param reasons why each of the queries has no scan of the table */
  def recommendNothingUnderstood(table: String, reasons: Seq[String]): Throwable = analysis(
    "ZCUBE_RECOMMEND_NOTHING_UNDERSTOOD",
    "table" -> table,
    "reasons" -> reasons.take(3).mkString("; "))

  /** @param cause why the second pass of an OPTIMIZE failed */
  def regroupFailed(table: String, cause: Throwable): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_REGROUP_FAILED",
      Map("table" -> table, "cause" -> innermostMessage(cause)),
      cause)

  /** @param reserved the column's name, or its name in files */
  def reservedColumn(table: String, column: String, reserved: String): Throwable =
    analysis(
      "ZCUBE_RESERVED_COLUMN",
      "table" -> table,
      "column" -> column,
      "reserved" -> reserved)

  /** @param cause what Spark says */
  def rewriteFailed(table: String, cause: Throwable): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_REWRITE_FAILED",
      Map("table" -> table, "cause" -> innermostMessage(cause)),
      cause)

  def rowCountMismatch(table: String, rowsIn: Long, rowsOut: Long): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_ROW_COUNT_MISMATCH",
      Map("table" -> table, "rowsIn" -> rowsIn.toString, "rowsOut" -> rowsOut.toString))

  /** @param cause what Spark says */
  def sampleFailed(table: String, cause: Throwable): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_SAMPLE_FAILED",
      Map("table" -> table, "cause" -> innermostMessage(cause)),
      cause)

  /** @param use   a subclass of ZCUBE_SAMPLE_TOO_SMALL
    * @param rows  that were kept
    * @param parts files or ranges
    */
  def sampleTooSmall(use: String, columns: Seq[String], rows: Long, parts: Int): Throwable =
    new ZCubeExecutionException(
      s"ZCUBE_SAMPLE_TOO_SMALL.$use",
      Map("columns" -> columns.mkString(", "), "rows" -> rows.toString, "parts" -> parts.toString))

  /** @param node the plan node that doesn't belong to a plain scan */
  def scanChanged(table: String, node: String): Throwable =
    analysis("ZCUBE_SCAN_CHANGED", "table" -> table, "node" -> node)

  /** @param statement its first words */
  def statementNotSupported(statement: String): Throwable =
    analysis("ZCUBE_STATEMENT_NOT_SUPPORTED", "statement" -> statement)

  def streamingNotSupported(): Throwable = analysis("ZCUBE_STREAMING_NOT_SUPPORTED")

  def tooManyColumns(count: Int, limit: Int): Throwable =
    analysis("ZCUBE_TOO_MANY_COLUMNS", "count" -> count.toString, "limit" -> limit.toString)

  def unknownOption(option: String, known: Seq[String]): Throwable =
    analysis("ZCUBE_UNKNOWN_OPTION", "option" -> option, "known" -> known.sorted.mkString(", "))

  def unknownWeight(name: String, columns: Seq[String]): Throwable =
    analysis("ZCUBE_UNKNOWN_WEIGHT", "name" -> name, "columns" -> columns.mkString(", "))

  def unorderedType(column: String, dataType: DataType): Throwable =
    analysis("ZCUBE_UNORDERED_TYPE", "column" -> column, "dataType" -> dataType.sql)

  def unsupportedVersion(product: String, running: String, supported: Seq[String]): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_UNSUPPORTED_VERSION",
      Map("product" -> product, "running" -> running, "supported" -> supported.mkString(" or ")))

  def weightsNotTaken(curve: String): Throwable =
    analysis(
      "ZCUBE_WEIGHTS_NOT_TAKEN",
      "curve" -> curve,
      "supported" -> LayoutKind.namesWithWeights)

  def workloadNotTaken(curve: String): Throwable =
    analysis(
      "ZCUBE_WORKLOAD_NOT_TAKEN",
      "curve" -> curve,
      "supported" -> LayoutKind.namesWithWorkload)

  def workloadWithoutRanges(columns: Seq[String]): Throwable =
    analysis("ZCUBE_WORKLOAD_WITHOUT_RANGES", "columns" -> columns.mkString(", "))

  def whereGivenTwice(clause: String, option: String): Throwable =
    analysis("ZCUBE_WHERE_GIVEN_TWICE", "clause" -> clause, "option" -> option)

  def whereNeedsSkipping(predicate: String): Throwable =
    analysis("ZCUBE_WHERE_NEEDS_SKIPPING", "predicate" -> predicate)

  def writtenFileMissing(table: String, path: String): Throwable =
    new ZCubeExecutionException(
      "ZCUBE_WRITTEN_FILE_MISSING",
      Map("table" -> table, "path" -> path))

  /** The innermost cause has the reason; the others only say where. */
  private def innermostMessage(e: Throwable): String = {
    val innermost = Causes.of(e).last
    Option(innermost.getMessage).getOrElse(innermost.getClass.getName)
  }

  private def notRun(condition: String, table: Option[String]): Throwable = table match {
    case Some(name) => analysis(s"$condition.NO_COLUMNS", "table" -> name)
    case None => analysis(s"$condition.DISABLED")
  }

  private def analysis(condition: String, parameters: (String, String)*): Throwable =
    new ZCubeAnalysisException(condition, parameters.toMap)
}
