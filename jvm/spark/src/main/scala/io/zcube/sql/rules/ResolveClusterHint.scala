package io.zcube.sql.rules

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnresolvedHint}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern
import org.apache.spark.unsafe.types.UTF8String
import org.json4s.JValue
import org.json4s.JsonAST.JObject
import org.json4s.jackson.JsonMethods

import io.zcube.sql.errors.ZCubeErrors

/** Turns the hint `ZCUBE_CLUSTER('{"columns": [["a"], ["s", "leaf"]], …}')` into
  * [[io.zcube.sql.plans.ClusterRows]].
  *
  * Only a hint can carry a custom DataFrame operator to the server from both classic PySpark and
  * Spark Connect, without Java objects or protocol extensions.
  */
object ResolveClusterHint extends Rule[LogicalPlan] {

  private val HintName = "zcube_cluster"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUpWithPruning(
    _.containsPattern(TreePattern.UNRESOLVED_HINT)) {
    // Spark would ignore a hint that isn't replaced here.
    case UnresolvedHint(name, parameters, child) if name.toLowerCase(Locale.ROOT) == HintName =>
      new ClusterHint(fieldsOf(parameters)).over(child)
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
}
