package io.zcube.sql.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.execution.QueryExecutionException

/** A command that failed at run time. PySpark raises its own QueryExecutionException for it. */
final class ZCubeExecutionException(
    condition: String,
    parameters: Map[String, String],
    cause: Throwable = null)
    extends QueryExecutionException(ErrorConditions.message(condition, parameters), cause)
    with SparkThrowable {
  override def getCondition: String = condition
  override def getSqlState: String = ErrorConditions.sqlState(condition)
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}
