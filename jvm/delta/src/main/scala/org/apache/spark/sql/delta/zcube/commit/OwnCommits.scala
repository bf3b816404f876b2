package org.apache.spark.sql.delta.zcube.commit

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.zcube.write.DeltaTransaction

/** The commits of a run, as long as no other writer's commit is between them. They rewrite
  * different files, so none needs a conflict check against the earlier ones.
  *
  * @param read the snapshot from which the run was planned
  */
final class OwnCommits(read: Snapshot) {

  private var last = read

  /** All versions after the plan's snapshot, up to this one, belong to this run. */
  def latest: Snapshot = synchronized(last)

  /** Records a committed transaction of the run. */
  def add(committed: DeltaTransaction): Unit = synchronized {
    committed.postCommitSnapshot.foreach { after =>
      // If another writer's version is in between, the next check must begin before it.
      val isNext = committed.readVersion == last.version && after.version == last.version + 1
      if (isNext) last = after
    }
  }
}
