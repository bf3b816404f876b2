package org.apache.spark.sql.delta.zcube

import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.TaskAttemptContext
import org.apache.spark.internal.io.FileCommitProtocol.TaskCommitMessage
import org.apache.spark.sql.delta.actions.FileAction
import org.apache.spark.sql.delta.files.DelayedCommitProtocol

/** Delta's commit protocol, but nothing is left behind: a task that fails removes its own files, and
  * the driver knows the files of every task that ended, also when the job then fails.
  */
final class CleaningCommitProtocol(path: String, prefixLength: Option[Int], subdir: Option[String])
    extends DelayedCommitProtocol("delta", path, prefixLength, subdir) {

  // On the driver only. Tasks end on several threads of the scheduler.
  @transient private lazy val written = new ConcurrentLinkedQueue[String]()

  /** Full paths of the files of all tasks that ended well. */
  def writtenFiles: Seq[String] = written.asScala.toSeq

  override def onTaskCommit(taskCommit: TaskCommitMessage): Unit =
    taskCommit.obj match {
      case actions: Seq[_] =>
        actions.foreach {
          case action: FileAction => written.add(fullPath(action.path).toString)
          case _ =>
        }
      case _ =>
    }

  override def abortTask(taskContext: TaskAttemptContext): Unit =
    Option(addedFiles).toSeq.flatten.foreach { case (_, relative) =>
      val file = fullPath(relative)
      try file.getFileSystem(taskContext.getConfiguration).delete(file, false)
      catch {
        case NonFatal(e) => logWarning(s"ZCube could not remove $file of a failed task", e)
      }
    }

  private def fullPath(relative: String): Path = new Path(path, new Path(new URI(relative)))
}
