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

/** Guards the speed of what is done for every row by something that needs no clock: placing a row
  * by columns of fixed width allocates nothing.
  */
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
      // Until the compiler has seen that values need no boxes.
      allocatedBy(placed, rounds = 30)
      assert(allocatedBy(placed, rounds = 10) < rows.length)
    }
}
