package io.zcube.benchmarks

import java.util.SplittableRandom
import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.zcube.quality.{FileRanges, LayoutQuality}

/** Quality by three columns and by all of them, from minima and maxima: ranking them included. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.SingleShotTime))
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 2)
@Measurement(iterations = 5)
class LayoutQualityBenchmark {

  @Param(Array("10000", "20000", "1000000"))
  var files: Int = 0

  /** Boxes of a clustered table, or such that each meets nearly every other. */
  @Param(Array("clustered", "random"))
  var layout: String = ""

  private val columns = 3
  private var lower: Array[Array[Long]] = _
  private var upper: Array[Array[Long]] = _

  @Setup
  def make(): Unit = {
    val random = new SplittableRandom(20260321)
    val side = math.cbrt(files.toDouble)
    lower = Array.fill(columns)(new Array[Long](files))
    upper = Array.fill(columns)(new Array[Long](files))
    for (c <- 0 until columns; i <- 0 until files)
      if (layout == "clustered") {
        // About as many boxes along each axis as their number's cube root, with ragged edges.
        val place = math.floor(random.nextDouble() * side)
        lower(c)(i) = ((place + 0.1 * random.nextDouble()) * 1e6).toLong
        upper(c)(i) = ((place + 1 + 0.1 * random.nextDouble()) * 1e6).toLong
      } else {
        lower(c)(i) = (random.nextDouble() * 1e6).toLong
        upper(c)(i) = (1e9 + random.nextDouble() * 1e6).toLong
      }
  }

  @Benchmark
  def describe(): Seq[LayoutQuality] = {
    val kinds = new Array[Byte](files)
    val ranges = Vector.tabulate(columns)(c => FileRanges.ofLongs(kinds, lower(c), upper(c)))
    ranges.map(LayoutQuality.ofColumn) :+ LayoutQuality.ofBoxes(ranges)
  }
}
