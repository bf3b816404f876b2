package io.zcube.sql.errors

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin
import org.scalatest.funsuite.AnyFunSuite

class ErrorConditionsSuite extends AnyFunSuite {
  // JSON parsers keep the last of two equal names without a word, so the text itself is looked at.
  private val text: String = {
    val in = getClass.getClassLoader.getResourceAsStream(ErrorConditions.Resource)
    try new String(in.readAllBytes(), "UTF-8")
    finally in.close()
  }

  private val json: JsonNode = new ObjectMapper().readTree(text)

  private val conditions: Seq[String] = json.fieldNames.asScala.toSeq

  /** `hilbertValueOutOfRange` for `ZCUBE_HILBERT_VALUE_OUT_OF_RANGE`. */
  private def factoryOf(condition: String): String = {
    val words = condition.stripPrefix("ZCUBE_").toLowerCase(java.util.Locale.ROOT).split('_')
    words.head + words.tail.map(_.capitalize).mkString
  }

  private def placeholders(condition: String): Set[String] =
    "<([a-zA-Z0-9]+)>".r.findAllMatchIn(ErrorConditions.template(condition)).map(_.group(1)).toSet

  /** Calls a factory method with any arguments of the right types. */
  private def sample(condition: String): SparkThrowable = {
    val factory = ZCubeErrors.getClass.getMethods
      .find(_.getName == factoryOf(condition))
      .getOrElse(fail(s"$condition has no factory method ZCubeErrors.${factoryOf(condition)}"))
    val arguments = factory.getParameterTypes.map[AnyRef] {
      case java.lang.Long.TYPE => Long.box(7L)
      case java.lang.Integer.TYPE => Int.box(3)
      case java.lang.Boolean.TYPE => Boolean.box(true)
      case c if c == classOf[String] => "a string"
      case c if c == classOf[Option[_]] => None
      case c if c.isAssignableFrom(classOf[List[_]]) => List("a", "b")
      case c if classOf[Throwable].isAssignableFrom(c) => new RuntimeException("the cause")
      case c if c == classOf[Origin] => Origin()
      case _ => null
    }
    factory.invoke(ZCubeErrors, arguments: _*).asInstanceOf[SparkThrowable]
  }

  test("conditions are sorted, unique and named after the project") {
    val names = "(?m)^  \"([^\"]+)\" :".r.findAllMatchIn(text).map(_.group(1)).toSeq
    assert(names == conditions.sorted.distinct)
    assert(names.nonEmpty && names.forall(_.matches("ZCUBE(_[A-Z0-9]+)+")))
  }

  test("every condition has a message and an SQLSTATE of five characters, and nothing else") {
    conditions.foreach { condition =>
      val entry = json.get(condition)
      assert(entry.fieldNames.asScala.toSet == Set("message", "sqlState"), condition)
      assert(entry.get("sqlState").asText.matches("[0-9A-Z]{5}"), condition)
      val lines = entry.get("message").elements.asScala.map(_.asText).toSeq
      assert(lines.nonEmpty && lines.forall(_.trim.nonEmpty) && lines.last.endsWith("."), condition)
    }
  }

  test("every condition has a factory method that fills all of its placeholders") {
    conditions.foreach { condition =>
      val error = sample(condition)
      assert(error.getCondition == condition)
      assert(error.getSqlState == json.get(condition).get("sqlState").asText)
      assert(error.getMessageParameters.asScala.keySet == placeholders(condition), condition)
      val message = error.asInstanceOf[Throwable].getMessage
      assert(message.startsWith(s"[$condition] ") && message.contains(s"SQLSTATE: ${error.getSqlState}"))
      assert(!message.matches("(?s).*<[a-zA-Z0-9]+>.*"), message)
    }
  }

  test("every factory method has its condition") {
    val factories = ZCubeErrors.getClass.getDeclaredMethods
      .filter(m => classOf[SparkThrowable].isAssignableFrom(m.getReturnType) && !m.isSynthetic)
      .map(_.getName)
      .toSet
    assert(factories == conditions.map(factoryOf).toSet)
  }

  test("an analysis error keeps condition and SQLSTATE when it learns its place in the query") {
    val error = new ZCubeAnalysisException(
      "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE",
      Map("value" -> "9", "maxValue" -> "7", "bits" -> "3"))
    val positioned: AnalysisException = error.withPosition(Origin(line = Some(2), startPosition = Some(5)))
    assert(positioned.getCondition == "ZCUBE_HILBERT_VALUE_OUT_OF_RANGE")
    assert(positioned.getSqlState == "22003")
    assert(positioned.line.contains(2))
    assert(positioned.getMessage.contains("the value 9"))
  }
}
