package io.zcube.clustering.plan

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.{ColumnPath, TableVersion}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.WeightedBoxes
import io.zcube.sql.predicates.{PredicateBoxes, PredicateReader, SimplifiedCondition, WeightedPredicate}

/** A query in the workload of an OPTIMIZE.
  *
  * @param predicate as the user wrote it
  * @param asked     the analyzed condition, as SQL
  * @param condition the same, simplified as for a scan
  * @param boxes     its boxes in the clustering columns
  */
final case class WorkloadQuery(
    predicate: WeightedPredicate,
    asked: String,
    condition: Expression,
    boxes: PredicateBoxes) {

  /** The ranges by which it skips files; None if it reads all.
    *
    * @param hasMinima for each clustering column
    */
  def ranges(hasMinima: Seq[Boolean]): Option[WeightedBoxes] = {
    val known = boxes.skippable(hasMinima)
    Option.unless(known.isAnything)(WeightedBoxes(known.boxes, predicate.weight))
  }

  /** A note for the user; empty if there is none. */
  def note: String =
    if (boxes.isAnything && boxes.ignored.isEmpty) "doesn't use the clustering columns"
    else if (boxes.ignored.nonEmpty) s"not understood: ${boxes.ignored.mkString(", ")}"
    else ""
}

object WorkloadQuery {

  /** @throws org.apache.spark.sql.AnalysisException if a predicate can't be resolved against the
    *   table or has a subquery, or if none determines anything
    */
  def resolve(
      session: SparkSession,
      version: TableVersion,
      columns: Seq[ColumnPath],
      workload: Seq[WeightedPredicate]): Seq[WorkloadQuery] = Sessions.within(session) {
    val table = LocalRelation(toAttributes(version.schema))
    val reader = new PredicateReader(columns.map(_.logical))
    val queries = workload.map { predicate =>
      val parsed = session.sessionState.sqlParser.parseExpression(predicate.text)
      if (SubqueryExpression.hasSubquery(parsed)) {
        throw ZCubeErrors.invalidOption("workload", predicate.text, "predicates without subqueries")
      }
      val analyzed = Sessions.analyzed(session, Filter(parsed, table))
      val condition = analyzed.collectFirst { case Filter(condition, _) => condition }.get
      val simple = SimplifiedCondition.of(condition, table.output)
      WorkloadQuery(predicate, condition.sql, simple, reader.read(simple))
    }
    val hasMinima = columns.map(version.hasStatistics)
    if (queries.nonEmpty && queries.forall(_.ranges(hasMinima).isEmpty)) {
      throw ZCubeErrors.workloadWithoutRanges(columns.map(_.name))
    }
    queries
  }

  /** Equal for workloads with the same conditions and the same ratios of weights, in any order. It
    * uses the conditions before constant folding: `day > current_date() - 7` is the same tomorrow.
    */
  def fingerprint(workload: Seq[WorkloadQuery]): String = {
    val weights =
      workload.groupBy(_.asked).map { case (sql, same) => sql -> same.map(_.predicate.weight).sum }
    val greatest = weights.values.max
    val text =
      weights.toSeq.sorted.map { case (sql, weight) => s"${weight / greatest}|$sql" }.mkString("\n")
    MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)).take(8)
      .map(byte => f"$byte%02x").mkString
  }
}
