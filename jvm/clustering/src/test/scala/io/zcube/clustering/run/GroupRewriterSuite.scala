package io.zcube.clustering.run

import java.util.concurrent.CancellationException

import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.clustering.memory.{MemoryEngine, MemoryTable}
import io.zcube.clustering.plan.RewritePlan
import io.zcube.sql.sampling.SampleBudget

class GroupRewriterSuite extends AnyFunSuite with MemoryEngine {

  test("a group that is sampled when the run ends isn't written") {
    val table = new MemoryTable("t", schema)
    (0L until 100L).map(row).grouped(10).foreach(table.append)
    val files = table.store.paths
    val task = taskOf(table)
    LayoutSession.using(session, task.version)(clone =>
      Sessions.within(clone) {
        val plan = RewritePlan.of(task)
        val monitor = new RunMonitor(clone, task, Nil)
        val txn = plan.selection.begin(clone, plan.groups.head.files)
        def rewriter(goOn: () => Unit) =
          new GroupRewriter(clone, task, plan.selection, txn, monitor, new SampleBudget(), goOn)
        try {
          intercept[CancellationException] {
            rewriter(() => throw new CancellationException).run(plan.groups.take(1))
          }
          assert(table.store.paths == files)
          rewriter(() => ()).run(plan.groups.take(1))
          assert(table.store.paths.size > files.size)
        } finally monitor.close()
      })
  }
}
