package org.apache.spark.sql.delta.zcube

import java.util.concurrent.atomic.AtomicReference
import java.util.{Iterator => JIterator}

import scala.jdk.CollectionConverters._

import io.delta.storage.LocalLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

/** Delta's local log store, whose next write of a commit, and whose listings, can be replaced. */
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
    val listed = super.listFrom(path, hadoopConf)
    listing.get.filter(_.isFor(callers)).fold(listed)(_.act(listed.asScala).asJava)
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

  /** @param act   what a listing of the log answers instead, or throws
    * @param isFor given the names of the classes that list it
    */
  final case class Listing(
      act: Iterator[FileStatus] => Iterator[FileStatus],
      isFor: Seq[String] => Boolean = _ => true)

  val listing = new AtomicReference[Option[Listing]](None)

  private def callers: Seq[String] =
    Thread.currentThread().getStackTrace.toSeq.map(_.getClassName)

  def before(error: => Throwable): Fault = Fault((_, _) => throw error)

  def after(error: => Throwable): Fault = Fault { (lines, write) =>
    write(lines)
    throw error
  }
}
