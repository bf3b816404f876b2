package io.zcube.sql.errors

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable

/** A value that a function can't accept. PySpark raises its own ArithmeticException for it. */
final class ZCubeArithmeticException(condition: String, parameters: Map[String, String])
    extends ArithmeticException(ErrorConditions.message(condition, parameters))
    with SparkThrowable {
  override def getCondition: String = condition
  override def getSqlState: String = ErrorConditions.sqlState(condition)
  override def getMessageParameters: java.util.Map[String, String] = parameters.asJava
}
