package io.zcube.benchmarks

import java.util.SplittableRandom
import java.util.concurrent.TimeUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DateType, LongType}
import org.openjdk.jmh.annotations._

import io.zcube.layout.kinds.LayoutKind
import io.zcube.sql.layout.{LayoutPlan, LayoutRequest}
import io.zcube.sql.sampling.RowSample

/** What a layout costs each row, in generated code: the number of its file, before the shuffle, and its key,
  * after it. Rows have a date of seven years and a number up to 400,000, and go to 24 files.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 8, time = 1)
class PlacementBenchmark {
  import PlacementBenchmark._

  @Param(Array("zorder", "hilbert", "kdtree"))
  var curve: String = ""

  private var rows: Array[InternalRow] = _
  private var file: UnsafeProjection = _
  private var key: UnsafeProjection = _
  private var next = 0

  @Setup
  def make(): Unit = {
    val random = new SplittableRandom(20260321)
    rows = Array.fill(Rows)(
      new GenericInternalRow(Array[Any](random.nextInt(2526), random.nextLong(400000L))))
    val sample = RowSample(Seq(DateType, LongType), rows, Rows.toLong, complete = true)
    val plan = LayoutPlan.of(sample, 24, LayoutRequest(LayoutKind.find(curve).get))
    val columns = Seq(
      BoundReference(0, DateType, nullable = true),
      BoundReference(1, LongType, nullable = true))
    file = UnsafeProjection.create(Seq(plan.file(columns)))
    key = UnsafeProjection.create(Seq(plan.key(columns)))
  }

  private def row(): InternalRow = {
    next = (next + 1) & (Rows - 1)
    rows(next)
  }

  @Benchmark
  def fileOfRow(): UnsafeRow = file(row())

  @Benchmark
  def keyOfRow(): UnsafeRow = key(row())
}

object PlacementBenchmark {
  final private val Rows = 1 << 16
}
