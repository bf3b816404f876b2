package io.zcube.sql.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable

/** An error that comes up while rows are processed. */
final class ZCubeRuntimeException(condition: String, parameters: Map[String, String])
    extends RuntimeException(ErrorConditions.message(condition, parameters))
    with SparkThrowable {
  override def getCondition: String = condition
  override def getSqlState: String = ErrorConditions.sqlState(condition)
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}
