package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.internal.Logging

/** What is said of a MERGE, in log lines and descriptions of jobs that begin with the table.
  *
  * @param table its name, or its path
  */
final private[merge] class MergeLog(val table: String) extends Logging {

  // Users configure the logger by this name, independent of the class name.
  override protected def logName: String = "io.zcube.merge"

  /** A line of the log, or the description of a job. */
  def line(text: String): String = s"$table: MERGE: $text"

  def info(text: => String): Unit = logInfo(line(text))

  def debug(text: => String, e: Throwable): Unit = logDebug(line(text), e)

  /** What the MERGE does after a part of ZCube's has failed. Errors may name values of the rows, so only
    * their kinds are in the warning.
    */
  def recovered(text: String, e: Throwable): Unit = {
    logWarning(line(s"$text: ${MergeFailures.kindsOf(e)}"))
    debug(text, e)
  }
}
