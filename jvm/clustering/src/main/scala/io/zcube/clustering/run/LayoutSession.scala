package io.zcube.clustering.run

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.TableVersion

/** The session in which files are read for a layout, and written: a clone, so that the user's settings
  * stay as they are.
  */
object LayoutSession {

  /** Options of a scan that say what [[readAll]] says of the session. */
  val LenientOptions: Seq[String] =
    Seq(FileSourceOptions.IGNORE_CORRUPT_FILES, FileSourceOptions.IGNORE_MISSING_FILES)

  def cloneOf(user: SparkSession, version: TableVersion): SparkSession = {
    val session = Sessions.cloneOf(user)
    val conf = session.sessionState.conf
    // The layout decides how many files there are; coalesced partitions would undo that.
    conf.setConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED, false)
    version.tune(session)
    readAll(conf)
    // Stored values are written again as they are, not as queries are to see them.
    conf.setConf(SQLConf.READ_SIDE_CHAR_PADDING, false)
    writeAsRead(conf)
    if (version.partitionColumns.nonEmpty) {
      // A group's rows are all of one partition. Without this the writer would sort them by the
      // partition columns first, which costs a second sort and may disturb ours.
      conf.setConf(SQLConf.MAX_CONCURRENT_OUTPUT_FILE_WRITERS, 2)
    }
    session
  }

  /** What a scan leaves out, or takes for NULL, the rewrite would remove from the table for ever. So it
    * fails where the user's own queries are to go on without.
    */
  private def readAll(conf: SQLConf): Unit =
    Seq(
      SQLConf.IGNORE_CORRUPT_FILES,
      SQLConf.IGNORE_MISSING_FILES,
      SQLConf.IGNORE_MISSING_PARQUET_FIELD_ID).foreach(conf.setConf(_, false))

  /** Dates before 1582 in the old calendar would be other dates to every reader but Spark; timestamps
    * stored in milliseconds would lose what is below.
    */
  private def writeAsRead(conf: SQLConf): Unit = {
    Seq(SQLConf.PARQUET_REBASE_MODE_IN_WRITE, SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE)
      .foreach(entry => conf.setConfString(entry.key, LegacyBehaviorPolicy.CORRECTED.toString))
    keepMicroseconds(conf, SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key)
  }

  /** A setting by which timestamps are encoded, Spark's or a format's: not in milliseconds. */
  def keepMicroseconds(conf: SQLConf, key: String): Unit =
    if (conf.contains(key) && conf.getConfString(key).equalsIgnoreCase("TIMESTAMP_MILLIS")) {
      conf.setConfString(key, "TIMESTAMP_MICROS")
    }
}
