package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction

/** The commits of one run, as long as they follow each other without another's between them. They rewrite
  * different files, so none needs to be checked for conflicts with the ones before it.
  *
  * @param read the snapshot that the run was planned by
  */
final class OwnCommits(read: Snapshot) {

  private var last = read

  /** All that came after the snapshot of the plan, up to this one, is of this run. */
  def latest: Snapshot = synchronized(last)

  /** A transaction of the run that committed. */
  def add(committed: DeltaTransaction): Unit = synchronized {
    committed.postCommitSnapshot.foreach { after =>
      // With a version of somebody else's in between the next check has to begin before that one.
      val isNext = committed.readVersion == last.version && after.version == last.version + 1
      if (isNext) last = after
    }
  }
}
