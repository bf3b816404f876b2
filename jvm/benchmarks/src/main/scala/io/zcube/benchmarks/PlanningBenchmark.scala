package io.zcube.benchmarks

import java.util.concurrent.TimeUnit

import scala.util.Random

import org.openjdk.jmh.annotations._

import io.zcube.planning._

/** Planning one OPTIMIZE of a table of a million files: 50 cubes over all space, one file in a hundred
  * fresh, without a budget and with one of 5 % of the table, for which merges are made in parts. The
  * forked JVM has 2 GiB of heap, which the descriptions of the files share.
  */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.SingleShotTime))
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 3)
@Fork(value = 1, jvmArgsAppend = Array("-Xmx2g"))
class PlanningBenchmark {

  @Param(Array("leveled", "all"))
  var policy: String = "leveled"

  @Param(Array("none", "5%"))
  var budget: String = "none"

  private var files: Seq[DataFile] = _

  @Setup
  def setup(): Unit = {
    val random = new Random(3)
    files = (1 to 1000000).map { i =>
      val isFresh = i % 100 == 0
      // A cube has 20,000 files: 141 times 141. Fresh files cover a quarter.
      val side = Long.MaxValue / (if (isFresh) 2 else 141)
      val low = Array.fill(2)((random.nextDouble() * (Long.MaxValue - side)).toLong)
      DataFile(
        f"part-$i%05d-cf5d0bf1-9dbd-4b9e-9d4b-1a2b3c4d5e6f-c000.snappy.parquet",
        100L << 20,
        Some(1000000L),
        cube = if (isFresh) None else Some(CubeTag(s"cube-${i % 50}", matches = true)),
        ranges = new KeyRanges(low, low.map(_ + side))
      )
    }
  }

  @Benchmark def plan(): ClusteringPlan =
    new ZCubePlanner(
      PlanOptions(
        policy = MergePolicy.find(policy).get,
        targetFileBytes = 100L << 20,
        minCubeBytes = 10L << 40,
        targetCubeBytes = 15L << 40,
        maxBytes = Option.when(budget != "none")(DataFile.bytesOf(files) / 20)
      )).plan(files)
}
