package org.apache.spark.sql.delta.zcube.write

import java.net.URI

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.TaskAttemptContext
import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.files.DelayedCommitProtocol
import org.apache.spark.util.CollectionAccumulator

import io.zcube.concurrent.DeferredInterrupt
import io.zcube.sql.errors.ZCubeErrors

/** Delta's commit protocol, but nothing is left behind: a task that fails removes its own files, and
  * each tells the driver what it makes. Files say which partition of the shuffle they are of, by a tag
  * that is not for the log.
  *
  * @param made full paths
  */
final class CleaningCommitProtocol(
    path: String,
    prefixLength: Option[Int],
    subdir: Option[String],
    made: CollectionAccumulator[String])
    extends DelayedCommitProtocol("delta", path, prefixLength, subdir) {

  override def newTaskTempFile(
      taskContext: TaskAttemptContext,
      dir: Option[String],
      ext: String): String = {
    val file = super.newTaskTempFile(taskContext, dir, ext)
    made.add(file)
    file
  }

  override protected def buildActionFromAddedFile(
      file: (Map[String, String], String),
      stat: FileStatus,
      taskContext: TaskAttemptContext): FileAction =
    super.buildActionFromAddedFile(file, stat, taskContext) match {
      case added: AddFile =>
        val part = taskContext.getTaskAttemptID.getTaskID.getId
        added.copy(tags = Map(CleaningCommitProtocol.Part -> part.toString))
      case other => other
    }

  /** A task may fail before it has a writer that could be aborted, with a file that is begun. */
  override def setupTask(taskContext: TaskAttemptContext): Unit = {
    super.setupTask(taskContext)
    Option(TaskContext.get()).foreach(_.addTaskFailureListener((_: TaskContext, _: Throwable) =>
      removeFiles(taskContext)))
  }

  override def abortTask(taskContext: TaskAttemptContext): Unit = removeFiles(taskContext)

  /** Of a task that failed, so that no commit has them. */
  private def removeFiles(taskContext: TaskAttemptContext): Unit = DeferredInterrupt.within {
    val files = Option(addedFiles).toSeq.flatten
    Option(addedFiles).foreach(_.clear())
    files.foreach { case (_, relative) =>
      val file = new Path(path, new Path(new URI(relative)))
      try file.getFileSystem(taskContext.getConfiguration).delete(file, false)
      catch {
        case NonFatal(e) => logWarning(s"ZCube could not remove $file of a failed task", e)
      }
    }
  }
}

object CleaningCommitProtocol {
  private val Part = "zcube.part"

  /** The number of the partition of the shuffle whose rows a written file has, and the file as the log is
    * to have it.
    */
  def partOf(written: AddFile): (Int, AddFile) = {
    val tags = Option(written.tags).getOrElse(Map.empty)
    val part = tags.getOrElse(
      Part,
      throw ZCubeErrors.internal(s"${written.path}, which no task of a rewrite made"))
    (part.toInt, written.copy(tags = Option(tags - Part).filter(_.nonEmpty).orNull))
  }
}
