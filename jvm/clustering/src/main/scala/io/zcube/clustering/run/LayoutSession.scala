package io.zcube.clustering.run

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.internal.{LegacyBehaviorPolicy, SQLConf}
import org.apache.spark.sql.zcube.Sessions

import io.zcube.clustering.table.TableVersion

/** The session in which files are read for a layout, and written: a clone, so that the user's
  * settings don't change.
  */
object LayoutSession {

  /** Scan options that correspond to the session settings of [[readAll]]. */
  val LenientOptions: Seq[String] =
    Seq(FileSourceOptions.IGNORE_CORRUPT_FILES, FileSourceOptions.IGNORE_MISSING_FILES)

  /** Runs `body` with such a session, which is closed afterwards. */
  def using[T](user: SparkSession, version: TableVersion)(body: SparkSession => T): T =
    Sessions.using(user, cloneOf(user, version))(body)

  /** To be closed when nothing uses it any more. */
  def cloneOf(user: SparkSession, version: TableVersion): SparkSession = {
    val session = Sessions.cloneOf(user)
    try prepare(session, version)
    catch {
      case e: Throwable =>
        Sessions.close(session)
        throw e
    }
    session
  }

  private def prepare(session: SparkSession, version: TableVersion): Unit = {
    val conf = session.sessionState.conf
    // The layout decides the number of files; coalescing partitions would change it.
    conf.setConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED, false)
    version.tune(session)
    readAll(conf)
    // Values are rewritten as stored, not as queries see them.
    conf.setConf(SQLConf.READ_SIDE_CHAR_PADDING, false)
    writeAsRead(conf)
    if (version.partitionColumns.nonEmpty) {
      // A group's rows are all in one partition. Without this setting, the writer would sort them
      // by the partition columns first, which costs a second sort and may disturb ZCube's order.
      conf.setConf(SQLConf.MAX_CONCURRENT_OUTPUT_FILE_WRITERS, 2)
    }
  }

  /** The rewrite would permanently remove whatever a scan skips or reads as NULL. So it fails even
    * where the user's queries are set to continue without such data.
    */
  private def readAll(conf: SQLConf): Unit = {
    Seq(
      SQLConf.IGNORE_CORRUPT_FILES,
      SQLConf.IGNORE_MISSING_FILES,
      SQLConf.IGNORE_MISSING_PARQUET_FIELD_ID,
      // A table's files may spell a column in several ways, whatever distinguishes names in queries.
      SQLConf.CASE_SENSITIVE
    ).foreach(conf.setConf(_, false))
    // Spark 4.0 has no such setting. A struct isn't NULL because a file lacks all of its fields.
    conf.setConfString(NullStructs, "false")
  }

  private val NullStructs = "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing"

  /** Dates before 1582 in the old calendar would be different dates for every reader except Spark. */
  private def writeAsRead(conf: SQLConf): Unit =
    Seq(SQLConf.PARQUET_REBASE_MODE_IN_WRITE, SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE)
      .foreach(entry => conf.setConfString(entry.key, LegacyBehaviorPolicy.CORRECTED.toString))
}
