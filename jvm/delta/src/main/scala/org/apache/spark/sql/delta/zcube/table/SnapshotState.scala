package org.apache.spark.sql.delta.zcube.table

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.sources.DeltaSQLConf.DELTA_SNAPSHOT_PARTITIONS

/** Delta builds the state of a table from its log in 50 partitions, however short the log is: of a table of
  * 10,000 files most of that time goes into starting tasks. Here it is as many as the log's size asks for.
  */
object SnapshotState {

  /** Has the state built, unless it is already, or the user chose a number of partitions. Delta keeps it for
    * all sessions, so a clone can have its own number and the user's settings stay as they are.
    */
  def build(user: SparkSession, snapshot: Snapshot): Unit =
    if (!snapshot.stateReconstructionTriggered && !isChosen(user)) {
      val session = user.cloneSession()
      setPartitions(session, snapshot)
      val _ = session.withActive(snapshot.stateDF)
    }

  /** For snapshots that a session builds of this table, unless the user chose a number. */
  def setPartitions(session: SparkSession, snapshot: Snapshot): Unit =
    if (!isChosen(session)) {
      session.sessionState.conf
        .setConfString(DELTA_SNAPSHOT_PARTITIONS.key, partitions(snapshot).toString)
    }

  private def isChosen(session: SparkSession): Boolean =
    session.sessionState.conf.getConf(DELTA_SNAPSHOT_PARTITIONS).isDefined

  private def partitions(snapshot: Snapshot): Int =
    partitions(snapshot.logSegment.deltas.map(_.getLen).sum, snapshot.checkpointSizeInBytes())

  /** Some 8,000 files each, which take about 500 bytes in a commit and 60 in a checkpoint; that is work for
    * a fifth of a second, and a task costs a twelfth before it has done any. No more than Delta's own
    * number until that would be above three times as many files each: a task holds all of its files as
    * objects, 1,600 bytes a file with tags, and a driver that is the executor too may have little room.
    * In one of 1 GiB two tasks of 60,000 files each were what it couldn't hold.
    */
  private[zcube] def partitions(commitBytes: Long, checkpointBytes: Long): Int = {
    val usual = commitBytes / (4 << 20) + checkpointBytes / (1 << 19) + 1
    math.max(math.min(usual, DeltasDefault), math.min(usual / 3, MostPartitions)).toInt
  }

  private val DeltasDefault = 50L
  private val MostPartitions = 1000L
}
