package io.zcube.sql.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.QueryExecutionException

/** A failure while a query or command runs, on the driver or in a task.
  *
  * A `QueryExecutionException`, since PySpark raises that as its exception of the same name; of a class that it does not
  * know it would show the bare Java error.
  *
  * @param condition  a key of `zcube-error-conditions.json`
  * @param parameters a value for each placeholder of its message
  */
class ZCubeRuntimeException(
    condition: String,
    parameters: Map[String, String],
    cause: Option[Throwable] = None)
    extends QueryExecutionException(ErrorConditions.message(condition, parameters), cause.orNull)
    with SparkThrowable {

  override def getCondition: String = condition

  override def getSqlState: String = ErrorConditions.sqlState(condition)

  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}
