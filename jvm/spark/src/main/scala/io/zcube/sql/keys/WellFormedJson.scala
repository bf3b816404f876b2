package io.zcube.sql.keys

import java.io.IOException

import scala.util.Using

import com.fasterxml.jackson.core.{JsonProcessingException, JsonToken}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.json.{CreateJacksonParser, JSONOptions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.unsafe.types.UTF8String

import io.zcube.concurrent.Causes

/** A text that Spark reads as JSON, unchanged. Evaluating it fails if it isn't well-formed.
  *
  * The fields of such a text depend on each other: an error within a field that a plan reads ends that
  * field (`JacksonParser.convertObject`), and one within a field that it doesn't read ends the record.
  * Which fields a plan reads is up to the optimizer (`OptimizeCsvJsonExprs`).
  *
  * Example: `{"id": 1, "a": {"x": 01}}` has an `id` in a plan that reads `a`, and NULL in
  * others.
  *
  * @param options those of `from_json`
  */
final case class WellFormedJson(
    child: Expression,
    options: Map[String, String],
    timeZoneId: Option[String])
    extends UnaryExpression
    with CodegenFallback {

  override def dataType: DataType = child.dataType

  override def prettyName: String = "well_formed_json"

  @transient private lazy val factory = new JSONOptions(
    options,
    timeZoneId.getOrElse(SQLConf.get.sessionLocalTimeZone),
    SQLConf.get.columnNameOfCorruptRecord).buildJsonFactory()

  override protected def nullSafeEval(text: Any): Any =
    try Using.resource(CreateJacksonParser.utf8String(factory, text.asInstanceOf[UTF8String])) {
        parser =>
          // Whether a text is too long is only known when it is read.
          while (parser.nextToken() != null)
            if (parser.currentToken == JsonToken.VALUE_STRING) parser.getText: Unit
          text
      }
    catch { case e: IOException => throw new WellFormedJson.MalformedJsonError(e) }

  override protected def withNewChildInternal(newChild: Expression): Expression =
    copy(child = newChild)
}

object WellFormedJson {

  /** Not an exception: `try_add` and others would make NULL of it (`TryEval`). Its message says where
    * the text isn't well-formed. Jackson's exception quotes the text, and Spark logs all causes of a
    * task's failure, so it isn't kept.
    */
  final class MalformedJsonError(from: IOException) extends Error(from match {
        case e: JsonProcessingException if e.getLocation != null =>
          s"at character ${e.getLocation.getCharOffset + 1}"
        case _ => from.getClass.getSimpleName
      })

  object Malformed {

    /** The error itself, or one among its causes and what failed beside them. */
    def unapply(e: Throwable): Option[MalformedJsonError] =
      Causes.withSuppressed(e).collectFirst { case malformed: MalformedJsonError => malformed }
  }

  /** The plan, so that it fails on texts that aren't well-formed. */
  def required(plan: LogicalPlan): LogicalPlan = plan.transformAllExpressionsWithSubqueries {
    case json @ JsonToStructs(_, options, text, zone) if !text.isInstanceOf[WellFormedJson] =>
      json.copy(child = WellFormedJson(text, options, zone))
  }
}
