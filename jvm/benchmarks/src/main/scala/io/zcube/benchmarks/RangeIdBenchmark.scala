package io.zcube.benchmarks

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

/** The range id of one value among 999 bounds: this project's look-up against that of Delta's `range_partition_id`,
  * which is Spark's RangePartitioner. The bounds and the values are the same, the values in no order.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 10, time = 100, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 300, time = 5, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
class RangeIdBenchmark {

  @Param(Array("long", "double", "string", "url"))
  var column: String = "long"

  private var lookups: RangeIdLookups = _
  private var last = 0

  @Setup
  def setup(): Unit = lookups = RangeIdLookups.of(column)

  @Benchmark def zcube(): Int = lookups.zcube(next())

  @Benchmark def delta(): Int = lookups.delta(next())

  private def next(): Int = {
    last = (last + 1) & (RangeIdLookups.Count - 1)
    last
  }
}
