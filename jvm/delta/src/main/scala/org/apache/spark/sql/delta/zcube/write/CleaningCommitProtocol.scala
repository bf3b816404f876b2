package org.apache.spark.sql.delta.zcube.write

import java.net.URI

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.TaskAttemptContext
import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.files.DelayedCommitProtocol
import org.apache.spark.util.CollectionAccumulator

import io.zcube.concurrent.DeferredInterrupt

/** Delta's commit protocol, but nothing is left behind: a task that fails removes its own files, and
  * each tells the driver what it makes.
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
