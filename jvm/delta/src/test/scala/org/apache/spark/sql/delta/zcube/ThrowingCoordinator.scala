package org.apache.spark.sql.delta.zcube

import java.util.concurrent.atomic.AtomicReference

import io.delta.storage.LogStore
import io.delta.storage.commit.{CommitCoordinatorClient, CommitResponse}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.coordinatedcommits.{CommitCoordinatorBuilder, InMemoryCommitCoordinator}

/** Delta's commit coordinator for tests, which backfills late and can be made to fail once. */
final class ThrowingCoordinator extends InMemoryCommitCoordinator(100) {
  import ThrowingCoordinator._

  override private[delta] def commitImpl(
      logStore: LogStore,
      hadoopConf: Configuration,
      logPath: Path,
      conf: Map[String, String],
      version: Long,
      file: FileStatus,
      timestamp: Long): CommitResponse = {
    def really() =
      super.commitImpl(logStore, hadoopConf, logPath, conf, version, file, timestamp)
    instead.getAndSet(None) match {
      case None => really()
      case Some((lands, error)) =>
        if (lands) { val _ = really() }
        throw error
    }
  }
}

object ThrowingCoordinator extends CommitCoordinatorBuilder {

  /** Whether the next commit is accepted, and the response. */
  val instead = new AtomicReference[Option[(Boolean, Exception)]](None)

  private lazy val client = new ThrowingCoordinator

  override def getName: String = "zcube-test"

  override def build(spark: SparkSession, conf: Map[String, String]): CommitCoordinatorClient =
    client
}
