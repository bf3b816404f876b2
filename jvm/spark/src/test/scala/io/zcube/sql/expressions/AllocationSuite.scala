package io.zcube.sql.expressions

import java.lang.management.ManagementFactory

import scala.util.Random

import com.sun.management.ThreadMXBean
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.layout.{LayoutPlan, LayoutRequest}
import io.zcube.sql.sampling.RowSample

/** Guards per-row speed without a clock: placing a row by fixed-width columns allocates nothing. */
class AllocationSuite extends AnyFunSuite {

  private val types = Seq(LongType, IntegerType, DoubleType, DateType)
  private val random = new Random(4)
  private val rows: Array[InternalRow] = Array.fill(10000)(
    new GenericInternalRow(
      Array[Any](
        random.nextLong(),
        random.nextInt(),
        random.nextDouble(),
        random.nextInt(10000))))

  private def allocatedBy(placed: UnsafeProjection, rounds: Int): Long = {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
    val before = threads.getCurrentThreadAllocatedBytes
    (1 to rounds).foreach { _ =>
      var i = 0
      while (i < rows.length) {
        placed(rows(i))
        i += 1
      }
    }
    threads.getCurrentThreadAllocatedBytes - before
  }

  for (curve <- LayoutKind.all; columns <- Seq(2, 4))
    test(s"${curve.name} of $columns columns: nothing is allocated for a row") {
      val sample = RowSample(types.take(columns), rows, rows.length.toLong, complete = true)
      val plan = LayoutPlan.of(sample, 64, LayoutRequest(curve))
      val inputs = types.take(columns).zipWithIndex.map { case (dataType, i) =>
        BoundReference(i, dataType, nullable = true)
      }
      val placed = UnsafeProjection.create(Seq(plan.key(inputs), plan.file(inputs)))
      // Warm-up, until the compiler avoids boxing.
      allocatedBy(placed, rounds = 30)
      assert(allocatedBy(placed, rounds = 10) < rows.length)
    }
}
