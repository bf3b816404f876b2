package io.zcube.sql.errors

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.trees.Origin

/** A query or command that is refused before any work is done. PySpark raises it as its own `AnalysisException`.
  *
  * @param condition  a key of `zcube-error-conditions.json`
  * @param parameters a value for each placeholder of its message
  * @param at         the place in the query text, where it is known
  */
class ZCubeAnalysisException(
    condition: String,
    parameters: Map[String, String],
    cause: Option[Throwable] = None,
    at: Option[Origin] = None)
    extends AnalysisException(
      message = ErrorConditions.message(condition, parameters),
      line = at.flatMap(_.line),
      startPosition = at.flatMap(_.startPosition),
      cause = cause,
      errorClass = Some(condition),
      messageParameters = parameters,
      context = at.fold(Array.empty[org.apache.spark.QueryContext])(_.getQueryContext)) {

  override def getSqlState: String = ErrorConditions.sqlState(condition)

  // The inherited method would make a plain AnalysisException, which knows nothing of our SQLSTATEs.
  override def withPosition(origin: Origin): ZCubeAnalysisException = {
    val positioned = new ZCubeAnalysisException(condition, parameters, cause, Some(origin))
    positioned.setStackTrace(getStackTrace)
    positioned
  }
}
