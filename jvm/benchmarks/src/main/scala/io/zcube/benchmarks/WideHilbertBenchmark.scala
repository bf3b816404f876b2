package io.zcube.benchmarks

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.delta.expressions.DeltaKernels
import org.openjdk.jmh.annotations._

import io.zcube.curve.WideHilbertCurve

/** One Hilbert index of more than 63 bits, as bytes: this project's kernel against Delta's, on the same points. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 10, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 300, time = 5, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
class WideHilbertBenchmark {

  @Param(Array("4x16", "5x20"))
  var grid: String = "4x16"

  private var bits = 0
  private var points: SeededPoints = _
  private var curve: WideHilbertCurve = _

  @Setup
  def setup(): Unit = {
    val Array(dimensions, bits) = grid.split('x').map(_.toInt)
    this.bits = bits
    points = new SeededPoints(dimensions, bits)
    curve = WideHilbertCurve(dimensions, bits)
  }

  @Benchmark def zcube(): Array[Byte] = curve.index(points.next())

  @Benchmark def delta(): Array[Byte] = DeltaKernels.hilbertBytes(points.next(), bits)
}
