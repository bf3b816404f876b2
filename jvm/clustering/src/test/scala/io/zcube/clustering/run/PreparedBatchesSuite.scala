package io.zcube.clustering.run

import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable}
import io.zcube.clustering.plan.{RewriteGroup, RewritePlan}

class PreparedBatchesSuite extends AnyFunSuite with MemoryEngine {

  /** A table of 12 partitions with 3 files each, and a plan with a group for each. */
  private def planned(): (MemoryTable, RewritePlan) = {
    val table = new MemoryTable("t", schema, partitionedBy = Seq("p"))
    for (append <- 0 until 3) table.append((0L until 12L).map { p =>
      val next = row(100 * append + p)
      next.update(3, p.toInt)
      next
    })
    (table, Sessions.within(session)(RewritePlan.of(taskOf(table))))
  }

  private def run(plan: RewritePlan, batches: Seq[Seq[RewriteGroup]], atOnce: Int): Unit = {
    val prepared = new PreparedBatches(plan.selection, batches, atOnce)
    batches.foreach(batch => prepared.within(batch)(of => assert(of eq plan.selection)))
  }

  test("a read is for as many batches as fit, and for one at least") {
    for ((atOnce, reads) <-
        Seq(100 -> Seq(36), 36 -> Seq(36), 10 -> Seq(9, 9, 9, 9), 1 -> Seq.fill(12)(3))) {
      val (table, plan) = planned()
      run(plan, plan.groups.map(Seq(_)), atOnce)
      assert(table.prepared.get == reads)
      assert(table.released.get)
    }
  }

  test("a batch that begins before others includes them in its read") {
    val (table, plan) = planned()
    val batches = plan.groups.grouped(2).toSeq
    val prepared = new PreparedBatches(plan.selection, batches, atOnce = 1)
    Seq(2, 0, 1, 5).foreach(i => prepared.within(batches(i))(_ => ()))
    // The first read is for three batches, and the last for the three that are left.
    assert(table.prepared.get == Seq(18, 18))
  }

  test("a batch that fails is released") {
    val (table, plan) = planned()
    val batches = plan.groups.map(Seq(_))
    val prepared = new PreparedBatches(plan.selection, batches, atOnce = 1)
    intercept[IllegalStateException] {
      prepared.within(batches.head)(_ => throw new IllegalStateException)
    }
    assert(table.released.get)
  }
}
