package io.zcube.clustering.plan

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.apache.spark.sql.catalyst.expressions.{And, Expression, ExpressionSet, IsNotNull, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{ConstraintHelper, Filter, LocalRelation}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.{ColumnPath, TableVersion}
import io.zcube.layout.Ratio
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.BoxedQuery
import io.zcube.sql.parser.PredicateText
import io.zcube.sql.predicates.{DeclaredNames, ParsedQuery, PredicateBoxes, PredicateReader, SimplifiedCondition}

/** A query in the workload of an OPTIMIZE.
  *
  * @param predicate as the user wrote it
  * @param sql the analyzed condition, as SQL with the names that the table declares, and times in UTC
  * @param condition the same as a scan gets it: simplified, with the columns that can't be NULL
  * @param boxes     its boxes in the clustering columns, as far as files can be skipped by them
  * @param notes     for the user: parts that don't affect the layout
  */
final case class ResolvedQuery(
    predicate: ParsedQuery,
    sql: String,
    condition: Expression,
    boxes: PredicateBoxes,
    notes: Seq[String]) {

  /** The ranges by which it skips files; None if it reads all. */
  def ranges: Option[BoxedQuery] =
    Option.unless(boxes.isAnything)(BoxedQuery(boxes.boxes, predicate.weight))
}

object ResolvedQuery extends PredicateHelper with ConstraintHelper {

  /** @throws org.apache.spark.sql.AnalysisException if a predicate can't be resolved against the
    *   table or has a subquery, or if none determines anything
    */
  def resolve(
      session: SparkSession,
      version: TableVersion,
      columns: Seq[ColumnPath],
      workload: Seq[ParsedQuery]): Seq[ResolvedQuery] = Sessions.within(session) {
    val table = LocalRelation(toAttributes(version.schema))
    val reader = new PredicateReader(columns.map(_.logical))
    val hasMinima = columns.map(version.hasMinima)
    val hasNullCounts = columns.map(version.hasNullCounts)
    // Literals are printed in the session's time zone.
    val inUtc = session.sessionState.conf.clone()
    inUtc.setConf(SQLConf.SESSION_LOCAL_TIMEZONE, "UTC")
    val queries = workload.map { predicate =>
      val parsed = PredicateText.parse(session.sessionState.sqlParser, predicate.text)
      if (SubqueryExpression.hasSubquery(parsed)) {
        throw ZCubeErrors.invalidOption("workload", predicate.text, "predicates without subqueries")
      }
      val analyzed = Sessions.analyzed(session, Filter(parsed, table))
      val condition = analyzed.collectFirst { case Filter(condition, _) =>
        DeclaredNames.in(condition, table.output)
      }.get
      val simple = SimplifiedCondition.of(condition, table.output)
      val read = reader.read(simple)
      val skipping = read.skippable(hasMinima, hasNullCounts)
      val unused = read.columns.diff(skipping.columns).toSeq.sorted.map(columns(_).name)
      val notes = Seq(
        Option.when(read.isAnything && read.ignored.isEmpty)("doesn't use the clustering columns"),
        Option.when(read.ignored.nonEmpty)(s"unsupported: ${read.ignored.mkString(", ")}"),
        Option.when(unused.nonEmpty)(s"files have no statistics for it: ${unused.mkString(", ")}")
      ).flatten
      val sql = SQLConf.withExistingConf(inUtc)(condition.sql)
      ResolvedQuery(predicate, sql, asScanned(simple), skipping, notes)
    }
    if (queries.nonEmpty && queries.forall(_.ranges.isEmpty)) {
      throw ZCubeErrors.workloadWithoutRanges(columns.map(_.name))
    }
    queries
  }

  /** With what the optimizer infers from it: `flag` alone lets files of only NULLs be skipped. */
  private def asScanned(condition: Expression): Expression =
    constructIsNotNullConstraints(ExpressionSet(splitConjunctivePredicates(condition)), Nil).toSeq
      .filter { case IsNotNull(column) => column.nullable; case _ => true }
      .foldLeft(condition)(And(_, _))

  /** Equal for workloads with the same conditions and the same ratios of weights, in any order and
    * any session's time zone. It uses the conditions before constant folding:
    * `day > current_date() - 7` is the same tomorrow.
    */
  def fingerprint(workload: Seq[ResolvedQuery]): String = {
    // A sum of numbers depends on their order.
    val weights = workload
      .groupMap(_.sql)(_.predicate.weight)
      .map { case (sql, same) => sql -> same.sorted.sum }
    val largest = weights.values.max
    val text = weights.toSeq.sorted
      .map { case (sql, weight) => s"${Ratio(weight, largest)}|$sql" }
      .mkString("\n")
    MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)).take(8)
      .map(byte => f"$byte%02x").mkString
  }
}
