package org.apache.spark.sql.delta.zcube

import java.io.IOException
import java.nio.file.FileAlreadyExistsException
import java.util.concurrent.atomic.AtomicInteger
import java.util.{Iterator => JIterator}

import io.delta.storage.LocalLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Delta's local log store, one of whose writes fails. */
final class FailingCommitStore(conf: Configuration) extends LocalLogStore(conf) {

  override def write(
      path: Path,
      actions: JIterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration): Unit = {
    def really(): Unit = super.write(path, actions, overwrite, hadoopConf)
    val number = FailingCommitStore.writes.incrementAndGet()
    if (number != FailingCommitStore.failing) really()
    else {
      FailingCommitStore.fault match {
        case "before" => throw new IOException("no connection to the store")
        case "after" =>
          really()
          throw new IOException("connection lost after writing")
        case "exists" =>
          really()
          throw new FileAlreadyExistsException("the answer was lost, and the second one says so")
      }
    }
  }
}

object FailingCommitStore {
  val writes = new AtomicInteger
  @volatile private var failing = 0
  @volatile private var fault = ""

  /** Makes the `number`-th write fail; returns how many there were. */
  def failing(number: Int, fault: String)(body: => Unit): Int = {
    writes.set(0)
    this.fault = fault
    failing = number
    try body
    finally failing = 0
    writes.get
  }
}
