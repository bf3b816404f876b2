package io.zcube.sql.rules

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.unsafe.types.UTF8String
import org.json4s.JValue
import org.json4s.JsonAST.{JArray, JBool, JDouble, JInt, JNothing, JNull, JObject, JString}
import org.json4s.jackson.JsonMethods

import io.zcube.layout.kinds.LayoutKind
import io.zcube.layout.{ColumnWeights, FileCount}
import io.zcube.sql.errors.ZCubeErrors
import io.zcube.sql.layout.LayoutRequest
import io.zcube.sql.parser.PredicateText
import io.zcube.sql.plans.ClusterRows
import io.zcube.sql.predicates.ParsedQuery

/** Turns the hint `ZCUBE_CLUSTER('{"columns": [["a"], ["s", "leaf"]], …}')` into [[ClusterRows]].
  *
  * Only a hint can carry a custom DataFrame operator to the server from both classic PySpark and
  * Spark Connect, without Java objects or protocol extensions.
  */
object ResolveClusterHint extends Rule[LogicalPlan] {

  private val HintName = "zcube_cluster"
  private val DefaultTargetBytes = 128L << 20
  private val Known =
    Seq("columns", "curve", "weights", "numPartitions", "targetFileBytes", "sort", "workload")

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithPruning(
    _.containsPattern(TreePattern.UNRESOLVED_HINT)) {
    // Spark would ignore a hint that isn't replaced here.
    case UnresolvedHint(name, parameters, child) if name.toLowerCase(Locale.ROOT) == HintName =>
      toClusterRows(fieldsOf(parameters), child)
  }

  private def fieldsOf(parameters: Seq[Expression]): Map[String, JValue] = {
    def invalid(value: String) =
      ZCubeErrors.invalidOption(HintName, value, "one text with a JSON object")
    parameters match {
      case Seq(Literal(json: UTF8String, _)) => JsonMethods.parseOpt(json.toString) match {
          case Some(JObject(fields)) =>
            val names = fields.map(_._1)
            names.diff(names.distinct).headOption.foreach { name =>
              throw ZCubeErrors.invalidOption(HintName, json.toString, s"an object with one $name")
            }
            fields.toMap
          case _ => throw invalid(json.toString)
        }
      case others => throw invalid(others.map(_.sql).mkString(", "))
    }
  }

  private def toClusterRows(fields: Map[String, JValue], child: LogicalPlan): ClusterRows = {
    fields.keys.find(!Known.contains(_)).foreach(k => throw ZCubeErrors.unknownOption(k, Known))
    val columns = field(fields, "columns", "a list of lists of name parts") {
      case JArray(names) if names.nonEmpty =>
        names.map {
          case JArray(parts) if parts.nonEmpty =>
            UnresolvedAttribute(parts.map {
              case JString(part) => part
              case other => throw invalid("columns", other, "a list of lists of name parts")
            })
          case other => throw invalid("columns", other, "a list of lists of name parts")
        }
    }
    val curve = field(fields, "curve", LayoutKind.names) {
      case JString(name) if LayoutKind.find(name).isDefined => LayoutKind.find(name).get
      case JNothing | JNull => LayoutKind.Hilbert
    }
    val weights = field(fields, "weights", s"${columns.length} numbers greater than 0") {
      case JArray(numbers) if numbers.length == columns.length =>
        ColumnWeights.normalized(numbers.map {
          case JDouble(weight) if ColumnWeights.isWeight(weight) => weight
          case JInt(weight) if ColumnWeights.isWeight(weight.toDouble) => weight.toDouble
          case other => throw invalid("weights", other, "a number greater than 0")
        })
      case JNothing | JNull => Nil
    }
    if (fields.get("weights").exists(w => w != JNull) && !curve.takesWeights) {
      throw ZCubeErrors.weightsNotTaken(curve.name)
    }
    val workload = field(fields, "workload", ParsedQuery.Expected) {
      case predicates: JArray =>
        ParsedQuery.of(predicates)
          .getOrElse(throw invalid("workload", predicates, ParsedQuery.Expected))
      case JNothing | JNull => Nil
    }
    if (workload.nonEmpty && !curve.takesWorkload) throw ZCubeErrors.workloadNotTaken(curve.name)
    val partitions = field(fields, "numPartitions", s"an INT from 1 to ${FileCount.MaxFiles}") {
      case JInt(n) if n > 0 && n <= FileCount.MaxFiles => Some(n.toInt)
      case JNothing | JNull => None
    }
    val target = field(fields, "targetFileBytes", "a positive BIGINT") {
      case JInt(n) if n.isValidLong && n > 0 => Some(n.toLong)
      case JNothing | JNull => None
    }
    if (partitions.isDefined && target.isDefined) {
      throw invalid(
        "targetFileBytes",
        fields("targetFileBytes"),
        "absent if numPartitions is given")
    }
    val sort = field(fields, "sort", "true or false") {
      case JBool(value) => value
      case JNothing | JNull => true
    }
    ClusterRows(
      columns,
      workload.map(predicate => PredicateText.parse(CatalystSqlParser, predicate.text)),
      workload.map(_.weight),
      LayoutRequest(curve, sort = sort, weights = weights),
      partitions,
      target.getOrElse(DefaultTargetBytes),
      child
    )
  }

  private def field[T](fields: Map[String, JValue], name: String, expected: String)(
      read: PartialFunction[JValue, T]): T = {
    val value = fields.getOrElse(name, JNothing)
    read.applyOrElse(value, (_: JValue) => throw invalid(name, value, expected))
  }

  private def invalid(name: String, value: JValue, expected: String): Throwable = {
    val text = if (value == JNothing) "" else JsonMethods.compact(JsonMethods.render(value))
    ZCubeErrors.invalidOption(name, text, expected)
  }
}
