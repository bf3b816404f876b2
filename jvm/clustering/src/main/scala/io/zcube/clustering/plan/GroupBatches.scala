package io.zcube.clustering.plan

import io.zcube.planning.BinPacking

/** Which groups share a commit, and which share Spark's jobs.
  *
  * A commit takes about a second whatever it has in it, and so do the two jobs of a group. A table of
  * small partitions has many small groups, so they go together.
  */
final class GroupBatches(task: OptimizeTask) {
  import GroupBatches._

  /** What each commit has, in the order of the plan. */
  def commits(groups: Seq[RewriteGroup]): Seq[Seq[RewriteGroup]] =
    task.settings.batchBytes match {
      case Some(size) => BinPacking.pack(groups, size)(_.bytes)
      // A group that makes a stable cube is by itself: how much a failure loses goes with the size of
      // cubes.
      case None =>
        pack(groups, math.min(MostBytes, task.settings.leastCubeBytes(task.options)))
    }

  /** What is sampled and written together, of the groups of a commit: those of which each fills one file
    * at most.
    */
  def jobs(groups: Seq[RewriteGroup]): Seq[Seq[RewriteGroup]] = {
    val (small, large) = groups.partition { group =>
      // A group without rows would be an empty file that no log names.
      group.bytes <= MostSharedBytes &&
      group.rows.exists(rows => rows > 0 && task.fileCount(group, rows) == 1)
    }
    pack(small, MostBytes) ++ large.map(Seq(_))
  }

  private def pack(groups: Seq[RewriteGroup], mostBytes: Long): Seq[Seq[RewriteGroup]] = {
    val capacity = math.max(1L, mostBytes)
    BinPacking.pack(groups, capacity) { group =>
      val share = math.max(1.0 / MostGroups, group.files.size.toDouble / MostFiles)
      math.max(group.bytes, (capacity * share).toLong)
    }
  }
}

object GroupBatches {

  /** Of files that are rewritten: what a failure may undo, of each commit that is on its way. */
  val MostBytes: Long = 1L << 30

  /** Of a group that shares a job. One layout serves all groups of it, so each has few ranks of it and its
    * rows are in no fine order, which matters only where a file has several row groups.
    */
  private val MostSharedBytes: Long = 16L << 20

  /** With more partitions than 200 Spark's shuffle writer is a slower one. */
  val MostGroups = 200

  /** Tasks know the group of each. */
  private val MostFiles = 10000
}
