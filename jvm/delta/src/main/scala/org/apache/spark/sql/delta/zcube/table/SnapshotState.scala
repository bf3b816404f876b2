package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS
import org.apache.spark.sql.zcube.Sessions

/** Delta builds the state of a table from its log in 50 partitions, however short the log is: for a
  * table of 10,000 files, most of the time goes into starting tasks. This chooses the number of
  * partitions by the log's size.
  */
object SnapshotState {

  /** Builds the state, unless it is already built, or the user chose a number of partitions. Delta
    * caches it for all sessions, so a clone can have its own number and the user's settings don't
    * change.
    */
  def build(user: SparkSession, snapshot: Snapshot): Unit =
    if (!snapshot.stateReconstructionTriggered && !isChosen(user)) {
      Sessions.using(user, Sessions.cloneOf(user)) { session =>
        setPartitions(session, snapshot)
        val _ = Sessions.within(session)(snapshot.stateDF)
      }
    }

  /** Sets the number for snapshots of this table that a session builds, unless the user chose one.
    */
  def setPartitions(session: SparkSession, snapshot: Snapshot): Unit =
    if (!isChosen(session)) {
      session.sessionState.conf
        .setConfString(DELTA_SNAPSHOT_PARTITIONS.key, partitions(snapshot).toString)
    }

  private def isChosen(session: SparkSession): Boolean =
    session.sessionState.conf.getConf(DELTA_SNAPSHOT_PARTITIONS).isDefined

  private def partitions(snapshot: Snapshot): Int =
    partitions(snapshot.logSegment.deltas.map(_.getLen).sum, snapshot.checkpointSizeInBytes())

  /** About 8,000 files per partition; a file takes about 500 bytes in a commit and 60 in a
    * checkpoint. That is a fifth of a second of work, and the overhead of a task is a twelfth of a
    * second. The number is at most Delta's own, until that would mean over three times as many
    * files per partition: a task holds all of its files as objects, 1,600 bytes per file with tags,
    * and a driver that is also the executor may have little memory. A driver of 1 GiB couldn't hold
    * two tasks of 60,000 files each.
    */
  private[zcube] def partitions(commitBytes: Long, checkpointBytes: Long): Int = {
    val usual = commitBytes / (4 << 20) + checkpointBytes / (1 << 19) + 1
    math.max(math.min(usual, DeltasDefault), math.min(usual / 3, MaxPartitions)).toInt
  }

  private val DeltasDefault = 50L
  private val MaxPartitions = 1000L
}
