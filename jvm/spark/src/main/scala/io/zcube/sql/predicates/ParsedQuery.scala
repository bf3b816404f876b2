package io.zcube.sql.predicates

import org.json4s.JValue
import org.json4s.JsonAST.{JArray, JDecimal, JDouble, JInt, JLong, JObject, JString}
import org.json4s.jackson.JsonMethods

import io.zcube.layout.ColumnWeights

/** A predicate of a workload, as the user wrote it.
  *
  * @param text   SQL, as after WHERE
  * @param weight how often it is used, compared to others
  */
final case class ParsedQuery(text: String, weight: Double)

object ParsedQuery {

  /** Describes valid workloads, for messages. */
  val Expected: String =
    """a JSON list of predicates such as ["x = 5", {"predicate": "y < 3", "weight": 2}], """ +
      "with weights greater than 0"

  /** None if the text is malformed or the list is empty.
    *
    * {{{parseList("""["x = 5", {"predicate": "y < 3", "weight": 2}]""") ==
    *   Some(Seq(ParsedQuery("x = 5", 1.0), ParsedQuery("y < 3", 2.0)))}}}
    */
  def parseList(json: String): Option[Seq[ParsedQuery]] =
    JsonMethods.parseOpt(json).collect { case list: JArray => list }.flatMap(of)

  /** The same, already parsed. */
  def of(list: JArray): Option[Seq[ParsedQuery]] = {
    val items = list.arr.map(one)
    Option.when(items.nonEmpty && items.forall(_.isDefined))(items.flatten)
  }

  private def one(item: JValue): Option[ParsedQuery] = (item match {
    case JString(text) => Some(ParsedQuery(text, 1.0))
    case JObject(fields) if fields.map(_._1).sorted == List("predicate") =>
      one(fields.head._2).filter(_ => fields.head._2.isInstanceOf[JString])
    case JObject(fields) if fields.map(_._1).sorted == List("predicate", "weight") =>
      val byName = fields.toMap
      (byName("predicate"), number(byName("weight"))) match {
        case (JString(text), Some(weight)) => Some(ParsedQuery(text, weight))
        case _ => None
      }
    case _ => None
  }).filter(item => item.text.trim.nonEmpty && ColumnWeights.isWeight(item.weight))

  private def number(value: JValue): Option[Double] = value match {
    case JInt(n) => Some(n.toDouble)
    case JLong(n) => Some(n.toDouble)
    case JDouble(n) => Some(n)
    case JDecimal(n) => Some(n.toDouble)
    case _ => None
  }
}
