package io.zcube.clustering.plan

import io.zcube.planning.BinPacking

/** Decides which groups share a commit, and which share Spark jobs.
  *
  * A commit takes about a second, however small, and so do the two jobs of a group. A table with
  * small partitions has many small groups, so they are combined.
  */
final class GroupBatches(task: OptimizeTask) {
  import GroupBatches._

  /** The groups of each commit, in the order of the plan. */
  def commits(groups: Seq[RewriteGroup]): Seq[Seq[RewriteGroup]] =
    task.settings.batchBytes match {
      case Some(size) => BinPacking.pack(groups, size)(_.storedBytes)
      // A group that makes a stable cube gets its own commit: a failure should lose no more than a
      // job. Of a large table, a thousandth is little to lose, and many more commits would take hours.
      case None =>
        val share = groups.iterator.map(_.storedBytes).sum / MaxCommits
        pack(groups, math.min(math.max(MaxBytes, share), task.planOptions.minCubeBytes))
    }

  /** How many commits are made ready at a time, and how many jobs run at a time for each.
    *
    * Until its commit, each group may meet a conflict. So the jobs of a commit run together, but for a few
    * commits at a time: otherwise all would wait for the last job of each.
    */
  def threads(commits: Seq[Seq[RewriteGroup]]): (Int, Int) = {
    val all = task.settings.maxThreads
    // Of most commits: a few with many jobs shouldn't leave threads of all others idle.
    val usual = commits.iterator.map(jobs(_).size).sum / math.max(1, commits.size)
    val idle = all / math.max(1, math.min(all, commits.size))
    val each = math.max(idle, math.min(usual, all / CommitsAtOnce)).max(1)
    (math.max(1, all / each), each)
  }

  /** The groups of a commit that are sampled and written together: those that each fill at most one
    * file.
    */
  def jobs(groups: Seq[RewriteGroup]): Seq[Seq[RewriteGroup]] = {
    val (small, large) = groups.partition { group =>
      // A group without rows would leave an empty file that no log names.
      group.storedBytes <= MaxSharedBytes &&
      group.rows.exists(rows => rows > 0 && task.fileCount(group, Some(rows)) == 1)
    }
    pack(small, MaxBytes) ++ large.map(Seq(_))
  }

  private def pack(groups: Seq[RewriteGroup], maxBytes: Long): Seq[Seq[RewriteGroup]] = {
    val capacity = math.max(1L, maxBytes)
    BinPacking.pack(groups, capacity) { group =>
      val share = math.max(1.0 / MaxGroups, group.files.size.toDouble / MaxFiles)
      math.max(group.storedBytes, (capacity * share).toLong)
    }
  }
}

object GroupBatches {

  /** Input bytes: what a failure may lose for each commit in progress, or a thousandth of all. */
  val MaxBytes: Long = 1L << 30

  /** At least, of those that have several jobs. */
  private val CommitsAtOnce = 3

  /** Of groups that make no stable cube, where these don't limit it. */
  private val MaxCommits = 1000

  /** Maximum size of a group that shares a job. One layout serves all groups of the job, so each
    * has few ranks and its rows are only coarsely ordered, which matters only if a file has several
    * row groups.
    */
  private val MaxSharedBytes: Long = 16L << 20

  /** Above 200 partitions, Spark uses a slower shuffle writer. */
  val MaxGroups = 200

  /** Every task holds the group of each file. */
  private val MaxFiles = 10000
}
