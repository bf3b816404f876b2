package io.zcube.clustering.plan

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable}
import io.zcube.planning.{CubeSizes, DataFile, Extents, FileReason, PlannedFile, PlannedGroup}

class GroupBatchesSuite extends AnyFunSuite with MemoryEngine {

  private val MB = 1L << 20
  private val GB = 1L << 30

  private lazy val task: OptimizeTask = {
    val table = new MemoryTable("t", schema)
    table.append(Seq(row(1)))
    taskOf(table, planning(settings)(_.copy(minCubeBytes = 100 * GB, targetCubeBytes = 150 * GB)))
  }

  private def groupsOf(count: Int, bytes: Long, minCubeBytes: Long): Seq[RewriteGroup] =
    (1 to count).map { number =>
      val file = PlannedFile(DataFile(s"f$number", bytes, rows = Some(1000)), FileReason.Fresh)
      val sizes = CubeSizes(minCubeBytes, 2 * minCubeBytes)
      RewriteGroup(PlannedGroup(Seq(file), sizes)(new Extents(Nil)), number, count)
    }

  /** The numbers of groups in each commit. */
  private def commits(count: Int, bytes: Long, minCubeBytes: Long = 100 * GB): Seq[Int] = {
    val settings = planning(task.settings)(_.copy(minCubeBytes = minCubeBytes))
    val groups = groupsOf(count, bytes, minCubeBytes)
    val packed = new GroupBatches(task.copy(settings = settings)).commits(groups)
    assert(packed.flatten.map(_.number) == groups.map(_.number))
    packed.map(_.size)
  }

  test("small groups share a commit, up to a gigabyte and 200 of them") {
    assert(commits(10, 100 * MB) == Seq(10))
    assert(commits(20, 100 * MB) == Seq(10, 10))
    assert(commits(400, MB) == Seq(200, 200))
    assert(commits(5, 2 * GB) == Seq(1, 1, 1, 1, 1))
  }

  test("of a large table, so many share a commit that there are a thousand or so") {
    val sizes = commits(20000, 5 * GB)
    assert(sizes.size >= 1000 && sizes.size <= 1100)
    assert(sizes.max == 20)
    // A commit of its own is what a stable cube has.
    assert(commits(2000, 5 * GB, minCubeBytes = 5 * GB).forall(_ == 1))
    assert(commits(100, 200 * GB).forall(_ == 1))
  }

  test(
    "the jobs of a commit run together, so that its groups don't wait long, and others beside it") {
    def threads(all: Int, commits: Int, groups: Int, bytes: Long): (Int, Int) = {
      val batches = new GroupBatches(task.copy(settings = task.settings.copy(
        maxThreads = all,
        plan = task.settings.plan.copy(targetFileBytes = GB))))
      batches.threads(groupsOf(commits * groups, bytes, 100 * GB).grouped(groups).toSeq)
    }
    // A job for each group, or one for all that are small.
    assert(threads(15, commits = 100, groups = 20, 5 * GB) == (3, 5))
    assert(threads(15, commits = 100, groups = 2, 5 * GB) == (7, 2))
    assert(threads(15, commits = 100, groups = 20, MB) == (15, 1))
    assert(threads(15, commits = 100, groups = 1, 5 * GB) == (15, 1))
    // A commit of many jobs doesn't hold up others of one.
    val large = groupsOf(30, 5 * GB, 100 * GB).map(Seq(_))
    val mixed = large :+ groupsOf(10, 50 * MB, 100 * GB)
    assert(new GroupBatches(task.copy(settings = task.settings.copy(maxThreads = 15)))
      .threads(mixed) == (15, 1))
    // With few commits, none of the threads is idle.
    assert(threads(15, commits = 2, groups = 20, 5 * GB) == (2, 7))
    assert(threads(15, commits = 1, groups = 20, 5 * GB) == (1, 15))
    for (all <- 1 to 20; commits <- 1 to 20; groups <- 1 to 20) {
      val (atOnce, each) = threads(all, commits, groups, 5 * GB)
      assert(atOnce >= 1 && each >= 1 && atOnce * each <= all)
    }
  }
}
