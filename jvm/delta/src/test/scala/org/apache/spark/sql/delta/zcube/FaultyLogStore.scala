package org.apache.spark.sql.delta.zcube

import java.util.{Iterator => JIterator}

import io.delta.storage.{CloseableIterator, LocalLogStore}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

/** The log store of [[FaultyFileSystem]], whose own operations can fail too. */
final class FaultyLogStore(conf: Configuration) extends LocalLogStore(conf) {

  override def write(
      path: Path,
      actions: JIterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration): Unit =
    Faults.in("log write", path)(super.write(path, actions, overwrite, hadoopConf))

  override def read(path: Path, hadoopConf: Configuration): CloseableIterator[String] =
    Faults.in("log read", path)(super.read(path, hadoopConf))

  override def listFrom(path: Path, hadoopConf: Configuration): JIterator[FileStatus] =
    Faults.in("log list", path)(super.listFrom(path, hadoopConf))
}
