package org.apache.spark.sql.delta.zcube.merge

import org.apache.spark.internal.Logging
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zcube.Sessions

/** A session in which a scan has a task for each file, so that what is copied is in as many files, each
  * with the rows of one. Spark has a scan's tasks read several files, largest first, wherever their rows
  * lie; and parts of larger ones.
  */
final private[merge] class FileByFile(session: SparkSession) extends AutoCloseable with Logging {
  import FileByFile._

  override protected def logName: String = MergePruning.LogName

  private var own: Option[SparkSession] = None

  /** Whether a session is open. */
  def isOpen: Boolean = own.isDefined

  /** None where it gains too little, as few copies may stay in cubes, or costs too much, as there are many
    * small files, or as a large one would take longer than the rest. None, too, if it can't be made.
    *
    * @param mayStay whether a file's copies may stay in its cube
    * @param table   name for the log
    */
  def sessionFor(
      files: Seq[AddFile],
      mayStay: AddFile => Boolean,
      table: String): Option[SparkSession] = {
    close()
    try
      if (isWorthIt(files, mayStay, session.sessionState.conf)) {
        val made = Sessions.cloneOf(session)
        own = Some(made)
        readByFile(files.map(_.size).max, made.sessionState.conf)
      }
    catch {
      case MergeFailures.Recoverable(e) =>
        val text = s"$table: MERGE: a task may copy several files"
        logWarning(s"$text: ${MergeFailures.kindsOf(e)}")
        logDebug(text, e)
        close()
    }
    own
  }

  private def readByFile(largest: Long, conf: SQLConf): Unit = {
    // Spark closes a task's list of files once they have as many bytes, counting this for each.
    Seq(SQLConf.FILES_MAX_PARTITION_BYTES, SQLConf.FILES_OPEN_COST_IN_BYTES)
      .foreach(setting => conf.setConfString(setting.key, largest.toString))
    Seq(SQLConf.FILES_MAX_PARTITION_NUM, SQLConf.FILES_MIN_PARTITION_NUM).foreach(conf.unsetConf)
  }

  private def isWorthIt(
      files: Seq[AddFile],
      mayStay: AddFile => Boolean,
      conf: SQLConf): Boolean = {
    val cores = session.leafNodeDefaultParallelism
    def bytes(of: Seq[AddFile]) = of.map(_.size).sum
    def areFew = files.nonEmpty && files.size <= MaxFiles
    def areAsManyAsAsked = conf.filesMinPartitionNum.forall(_ <= files.size) &&
      conf.filesMaxPartitionNum.forall(_ >= files.size)
    def areLarge = files.count(_.size < MinOpenCosts * conf.filesOpenCostInBytes) <=
      math.max(cores, files.size / 2)
    def areEven = files.map(_.size).max <=
      math.max(conf.filesMaxPartitionBytes, bytes(files) / (2 * cores))
    areFew && areAsManyAsAsked && areLarge && areEven &&
    2 * bytes(files.filter(mayStay)) >= bytes(files)
  }

  override def close(): Unit = {
    own.foreach(Sessions.close)
    own = None
  }
}

private object FileByFile {

  /** With more, [[CopiedFiles]] would compare too many with each other. */
  private val MaxFiles = 10000

  /** A file is small that has fewer bytes than so many times what Spark counts for opening one. */
  private val MinOpenCosts = 4
}
