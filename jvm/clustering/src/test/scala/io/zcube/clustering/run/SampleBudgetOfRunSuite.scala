package io.zcube.clustering.run

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.zcube.Sessions
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.Night
import io.zcube.clustering.memory.{MemoryEngine, MemoryFile, MemoryTable}
import io.zcube.sql.sampling.{RowSample, SampleBudget, SampleLimits}

/** All samples of a run together stay within one bound, counted in bytes. */
class SampleBudgetOfRunSuite extends AnyFunSuite with MemoryEngine {

  private val all = Night.all

  /** The least that a sample may have. */
  private val rowsOfSample = 100000

  /** With all tests, each group fills its sample to the last byte. */
  private val rowsOfGroup = if (all) rowsOfSample else 100

  private val groups = 4

  /** Of two columns of whole numbers. */
  private def bytesOf(rows: Int) = rows * (8L + 2 * 8 + SampleLimits.RowOverhead)

  /** Counts the bytes of samples from when they are drawn until they are not needed any more. */
  private class CountingBudget(bytes: Long, awakened: () => Unit)
      extends SampleBudget(bytes, awakened) {
    private var samples, held, maxSamples, maxHeld = 0L
    private val fits = (bytes / bytesOf(rowsOfSample)).toInt
    // Opened by as many samples as fit, and by one more.
    private val (full, tooMany) = (new CountDownLatch(fits), new CountDownLatch(fits + 1))

    def most: (Long, Long) = synchronized((maxSamples, maxHeld))

    override def sampled[T](wanted: Long)(draw: => RowSample)(use: RowSample => T): T =
      super.sampled(wanted)(draw) { sample =>
        val size = sample.rows.map {
          case row: UnsafeRow => row.getSizeInBytes + SampleLimits.RowOverhead
          case other => fail(s"$other")
        }.sum
        hold(1, size)
        full.countDown()
        tooMany.countDown()
        assert(full.await(60, TimeUnit.SECONDS))
        tooMany.await(1, TimeUnit.SECONDS): Unit
        try use(sample)
        finally hold(-1, -size)
      }

    private def hold(count: Int, size: Long): Unit = synchronized {
      samples += count
      held += size
      maxSamples = math.max(maxSamples, samples)
      maxHeld = math.max(maxHeld, held)
    }
  }

  private def newTable(): MemoryTable = {
    val table = new MemoryTable("t", schema, Seq("p"))
    table.append((0L until groups.toLong * rowsOfGroup).map(id =>
      InternalRow(id, (id * 7919 % 101).toInt, id * 104729 % 997, (id % groups).toInt)))
    table
  }

  // One commit of several jobs, a commit for each job, and the same with a batch of the user's size.
  for {
    (name, minCube, batch) <- Seq(
      ("shared", 1L << 30, None),
      ("each", 1L, None),
      ("batch", 1L << 30, Some(1L << 30)))
  } test(s"at most two samples of a run fit into a budget for two and a half; commit: $name") {
    val table = newTable()
    val task = taskOf(
      table,
      settings.copy(
        settings.plan.copy(
          minCubeBytes = minCube,
          targetFileBytes = rowsOfGroup / 2 * MemoryFile.RowBytes),
        maxThreads = groups,
        batchBytes = batch))
    val budgets = new AtomicInteger
    @volatile var budget: Option[CountingBudget] = None
    val bound = bytesOf(rowsOfSample) * 5 / 2
    val result = Sessions.within(session)(new OptimizeRunner(
      LayoutSession.cloneOf(session, task.version),
      task,
      Nil,
      awakened => {
        budgets.incrementAndGet()
        budget = Some(new CountingBudget(bound, awakened))
        budget.get
      }).run())
    assert(result.outcomes.count(_.isInstanceOf[GroupOutcome.Committed]) == groups)
    assert(table.now.commits.size - 1 == (if (name == "each") groups else 1))
    // As many as may be were held at once, and no more.
    assert(budget.get.most == ((2L, 2 * bytesOf(rowsOfGroup))))
    assert(budget.get.most._2 <= bound)
    assert(budgets.get == 1)
  }
}
