package org.apache.spark.sql.delta.zcube

import java.io.IOException
import java.util.concurrent.atomic.AtomicReference
import java.util.{Iterator => JIterator}

import io.delta.storage.LocalLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Delta's local log store, which can be told to throw before or after a commit is written. */
final class ThrowingLogStore(conf: Configuration) extends LocalLogStore(conf) {

  override def write(
      path: Path,
      actions: JIterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration): Unit = ThrowingLogStore.mode.get match {
    case "before" => throw new IOException("no connection to the store")
    case "after" =>
      super.write(path, actions, overwrite, hadoopConf)
      throw new IOException("connection lost after writing")
    case _ => super.write(path, actions, overwrite, hadoopConf)
  }
}

object ThrowingLogStore {
  val mode = new AtomicReference[String]("")
}
