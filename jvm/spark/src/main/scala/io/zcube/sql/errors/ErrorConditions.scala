package io.zcube.sql.errors

import org.apache.spark.ErrorClassesJsonReader

/** Reads the messages and SQLSTATEs of ZCube's error conditions. */
private[errors] object ErrorConditions {

  val resource: String = "error/zcube-error-conditions.json"

  private lazy val reader =
    new ErrorClassesJsonReader(Seq(getClass.getClassLoader.getResource(resource)))

  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters)} SQLSTATE: ${sqlState(condition)}"

  def sqlState(condition: String): String = reader.getSqlState(condition)
}
