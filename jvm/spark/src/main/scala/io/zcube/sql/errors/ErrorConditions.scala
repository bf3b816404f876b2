package io.zcube.sql.errors

import org.apache.spark.ErrorClassesJsonReader

/** The error conditions of this project: message templates and SQLSTATEs, read from `error/zcube-error-conditions.json`.
  *
  * Spark's own exceptions look their condition up in Spark's file only, which is why ours bring their text along.
  */
private[sql] object ErrorConditions {
  val Resource: String = "error/zcube-error-conditions.json"

  // Our own class loader: under `--jars` the context class loader of a thread need not see this jar.
  private lazy val reader = new ErrorClassesJsonReader(Seq(getClass.getClassLoader.getResource(Resource)))

  /** `[CONDITION] text SQLSTATE: state`, Spark's own form. */
  def message(condition: String, parameters: Map[String, String]): String =
    s"[$condition] ${reader.getErrorMessage(condition, parameters)} SQLSTATE: ${sqlState(condition)}"

  def template(condition: String): String = reader.getMessageTemplate(condition)

  def sqlState(condition: String): String = reader.getSqlState(condition)
}
