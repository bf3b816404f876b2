package org.apache.spark.sql.delta.zcube

import java.io.IOException
import java.util.concurrent.atomic.{AtomicBoolean, AtomicReference}
import java.util.{Iterator => JIterator}

import scala.jdk.CollectionConverters._

import io.delta.storage.LocalLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

/** Delta's local log store, whose next write of a commit can be replaced. */
final class ThrowingLogStore(conf: Configuration) extends LocalLogStore(conf) {
  import ThrowingLogStore._

  override def write(
      path: Path,
      actions: JIterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration): Unit = {
    def write(lines: Iterator[String]): Unit =
      super.write(path, lines.asJava, overwrite, hadoopConf)
    val now = instead.get.filter(_.ofFile(path.getName))
    if (now.isDefined && instead.compareAndSet(now, None)) now.get.act(actions.asScala, write)
    else write(actions.asScala)
  }

  override def listFrom(path: Path, hadoopConf: Configuration): JIterator[FileStatus] = {
    if (blind.get) throw new IOException("no connection to list the log")
    super.listFrom(path, hadoopConf)
  }
}

object ThrowingLogStore {

  /** @param ofFile selects the file by its name
    * @param act the replacement, given the lines and the original writer
    */
  final case class Fault(
      act: (Iterator[String], Iterator[String] => Unit) => Unit,
      ofFile: String => Boolean = _.endsWith(".json"))

  val instead = new AtomicReference[Option[Fault]](None)

  /** Whether the log can't be listed. */
  val blind = new AtomicBoolean(false)

  def before(error: => Throwable): Fault = Fault((_, _) => throw error)

  def after(error: => Throwable): Fault = Fault { (lines, write) =>
    write(lines)
    throw error
  }
}
