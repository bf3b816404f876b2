package io.zcube.benchmarks

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.delta.expressions.DeltaKernels
import org.openjdk.jmh.annotations._

import io.zcube.curve.HilbertCurve

/** One Hilbert index of up to 63 bits: this project's kernel against Delta's, on the same points. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 10, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 300, time = 5, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
class HilbertBenchmark {

  @Param(Array("2x10", "3x10", "4x15"))
  var grid: String = "2x10"

  private var bits = 0
  private var points: SeededPoints = _
  private var curve: HilbertCurve = _

  @Setup
  def setup(): Unit = {
    val Array(dimensions, bits) = grid.split('x').map(_.toInt)
    this.bits = bits
    points = new SeededPoints(dimensions, bits)
    curve = HilbertCurve(dimensions, bits)
  }

  @Benchmark def zcube(): Long = curve.index(points.next())

  @Benchmark def delta(): Long = DeltaKernels.hilbertIndex(points.next(), bits)
}
