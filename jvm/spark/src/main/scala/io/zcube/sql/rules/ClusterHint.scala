package io.zcube.sql.rules

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.json4s.JValue
import org.json4s.JsonAST.{JArray, JBool, JDouble, JInt, JNothing, JNull, JString}
import org.json4s.jackson.JsonMethods

import io.zcube.layout.kinds.LayoutKind
import io.zcube.layout.{ColumnWeights, FileCount}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.LayoutRequest
import io.zcube.sql.parser.PredicateText
import io.zcube.sql.plans.ClusterRows
import io.zcube.sql.predicates.ParsedQuery

/** The fields of the hint that [[ResolveClusterHint]] replaces, each checked. A field that is absent
  * or null has its default.
  *
  * Throws ZCUBE_INVALID_OPTION, or what is wrong with weights and workload.
  */
final private class ClusterHint(fields: Map[String, JValue]) {
  import ClusterHint._

  fields.keys.find(!Known.contains(_)).foreach(k => throw ZCubeErrors.unknownOption(k, Known))

  private val columns: Seq[UnresolvedAttribute] = {
    val expected = "a list of lists of name parts"
    read("columns", expected) {
      case JArray(names) if names.nonEmpty =>
        names.map {
          case JArray(parts) if parts.nonEmpty =>
            UnresolvedAttribute(parts.map {
              case JString(part) => part
              case other => throw invalid("columns", other, expected)
            })
          case other => throw invalid("columns", other, expected)
        }
    }
  }

  private val curve: LayoutKind = read("curve", LayoutKind.names) {
    case JString(name) if LayoutKind.find(name).isDefined => LayoutKind.find(name).get
    case JNothing | JNull => LayoutKind.Hilbert
  }

  private val weights: Seq[Double] = {
    val read = this.read("weights", s"${columns.length} numbers greater than 0") {
      case JArray(numbers) if numbers.length == columns.length =>
        ColumnWeights.normalized(numbers.map {
          case JDouble(weight) if ColumnWeights.isWeight(weight) => weight
          case JInt(weight) if ColumnWeights.isWeight(weight.toDouble) => weight.toDouble
          case other => throw invalid("weights", other, "a number greater than 0")
        })
      case JNothing | JNull => Nil
    }
    // Equal weights are none once they are normalized, but somebody gave them.
    if (fields.get("weights").exists(_ != JNull) && !curve.takesWeights)
      throw ZCubeErrors.weightsNotTaken(curve.name)
    read
  }

  private val workload: Seq[ParsedQuery] = {
    val queries = read("workload", ParsedQuery.Expected) {
      case predicates: JArray =>
        ParsedQuery.of(predicates)
          .getOrElse(throw invalid("workload", predicates, ParsedQuery.Expected))
      case JNothing | JNull => Nil
    }
    if (queries.nonEmpty && !curve.takesWorkload) throw ZCubeErrors.workloadNotTaken(curve.name)
    queries
  }

  private val partitions: Option[Int] =
    read("numPartitions", s"an INT from 1 to ${FileCount.MaxFiles}") {
      case JInt(n) if n > 0 && n <= FileCount.MaxFiles => Some(n.toInt)
      case JNothing | JNull => None
    }

  private val targetFileBytes: Option[Long] = read("targetFileBytes", "a positive BIGINT") {
    case JInt(n) if n.isValidLong && n > 0 => Some(n.toLong)
    case JNothing | JNull => None
  }
  if (partitions.isDefined && targetFileBytes.isDefined) {
    throw invalid(
      "targetFileBytes",
      fields("targetFileBytes"),
      "absent if numPartitions is given")
  }

  private val sort: Boolean = read("sort", "true or false") {
    case JBool(value) => value
    case JNothing | JNull => true
  }

  /** The operator that the hint asks for. */
  def over(child: LogicalPlan): ClusterRows = ClusterRows(
    columns,
    workload.map(predicate => PredicateText.parse(CatalystSqlParser, predicate.text)),
    workload.map(_.weight),
    LayoutRequest(curve, weights = weights),
    partitions,
    targetFileBytes.getOrElse(DefaultTargetBytes),
    sort,
    child
  )

  private def read[T](name: String, expected: String)(known: PartialFunction[JValue, T]): T = {
    val value = fields.getOrElse(name, JNothing)
    known.applyOrElse(value, (_: JValue) => throw invalid(name, value, expected))
  }

  private def invalid(name: String, value: JValue, expected: String): Throwable = {
    val text = if (value == JNothing) "" else JsonMethods.compact(JsonMethods.render(value))
    ZCubeErrors.invalidOption(name, text, expected)
  }
}

private object ClusterHint {

  private val DefaultTargetBytes = 128L << 20

  private val Known =
    Seq("columns", "curve", "weights", "numPartitions", "targetFileBytes", "sort", "workload")
}
