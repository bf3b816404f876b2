package org.apache.spark.sql.delta.zcube

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.internal.SQLConf

/** The session in which a layout is written: a clone, so that the user's settings stay as they are. */
object LayoutSession {

  def cloneOf(user: SparkSession, snapshot: Snapshot): SparkSession = {
    val session = user.cloneSession()
    val conf = session.sessionState.conf
    // The layout decides how many files there are; coalesced partitions would undo that.
    conf.setConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED, false)
    SnapshotState.setPartitions(session, snapshot)
    if (snapshot.metadata.partitionColumns.nonEmpty) {
      // A group's rows are all of one partition. Without this the writer would sort them by the
      // partition columns first, which costs a second sort and may disturb ours.
      conf.setConf(SQLConf.MAX_CONCURRENT_OUTPUT_FILE_WRITERS, 2)
    }
    session
  }
}
