package org.apache.spark.sql.delta.zcube.write

import java.net.URI

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.hadoop.mapreduce.{JobContext, TaskAttemptContext}
import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.files.DelayedCommitProtocol
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.CollectionAccumulator

import io.zcube.concurrent.DeferredInterrupt
import io.zcube.sql.errors.ZCubeErrors

/** Delta's commit protocol, without leftover files: a failed task removes its own files, and each
  * task reports the files that it creates to the driver. A tag, which isn't written to the log, has
  * each file's shuffle partition.
  *
  * @param made full paths
  */
final class CleaningCommitProtocol(
    path: String,
    prefixLength: Option[Int],
    subdir: Option[String],
    made: CollectionAccumulator[String])
    extends DelayedCommitProtocol("delta", path, prefixLength, subdir) {

  /** Timestamps stored in milliseconds would lose their microseconds. A session may ask for them, the
    * table's properties, or Hadoop's configuration, and all meet here, before tasks get them.
    */
  override def setupJob(jobContext: JobContext): Unit = {
    super.setupJob(jobContext)
    val (conf, key) = (jobContext.getConfiguration, SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key)
    if ("TIMESTAMP_MILLIS".equalsIgnoreCase(conf.get(key))) conf.set(key, "TIMESTAMP_MICROS")
  }

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

  /** A task may fail with a started file before it has a writer that could be aborted. */
  override def setupTask(taskContext: TaskAttemptContext): Unit = {
    super.setupTask(taskContext)
    Option(TaskContext.get()).foreach(_.addTaskFailureListener((_: TaskContext, _: Throwable) =>
      removeFiles(taskContext)))
  }

  override def abortTask(taskContext: TaskAttemptContext): Unit = removeFiles(taskContext)

  /** Removes the files of a failed task, which no commit contains. */
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

  /** The shuffle partition whose rows a written file has, and the file in its form for the log. */
  def partOf(written: AddFile): (Int, AddFile) = {
    val tags = Option(written.tags).getOrElse(Map.empty)
    val part = tags.getOrElse(
      Part,
      throw ZCubeErrors.internal(s"${written.path}, which no task of a rewrite created"))
    (part.toInt, written.copy(tags = Option(tags - Part).filter(_.nonEmpty).orNull))
  }
}
