package io.zcube.sql.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.AnalysisException

/** A statement that can't be run as written. PySpark raises its own AnalysisException for it. */
final class ZCubeAnalysisException(
    condition: String,
    parameters: Map[String, String],
    cause: Option[Throwable] = None)
    extends AnalysisException(
      message = ErrorConditions.message(condition, parameters),
      cause = cause,
      errorClass = Some(condition),
      messageParameters = parameters) {
  override def getSqlState: String = ErrorConditions.sqlState(condition)
  // The parent's message is already complete.
  override def getMessage: String = message
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}
