package io.zcube.benchmarks

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.delta.expressions.DeltaKernels
import org.openjdk.jmh.annotations._

import io.zcube.curve.BitInterleaver

/** The interleaved bits of one row of INTs: this project's kernel against both of Delta's, on the same rows. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 10, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 300, time = 5, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
class InterleaveBenchmark {

  @Param(Array("2", "4", "8"))
  var columns: Int = 2

  private var points: SeededPoints = _

  @Setup
  def setup(): Unit = points = new SeededPoints(columns, 32)

  @Benchmark def zcube(): Array[Byte] = BitInterleaver.interleave(points.next())

  @Benchmark def delta(): Array[Byte] = DeltaKernels.interleave(points.next(), fast = false)

  @Benchmark def deltaFast(): Array[Byte] = DeltaKernels.interleave(points.next(), fast = true)
}
