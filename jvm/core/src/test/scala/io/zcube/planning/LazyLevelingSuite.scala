package io.zcube.planning

import org.scalatest.funsuite.AnyFunSuite

class LazyLevelingSuite extends AnyFunSuite {
  import StreamSimulation._

  private val byDefault = PlanOptions(targetFileBytes = RowsPerFile)
  private val lessWriting = byDefault.copy(fanOut = 8, mergeShare = 0.6)

  // An append as large as a file, and one of two thirds of it.
  private val appends = Seq(RowsPerFile.toInt, RowsPerFile.toInt * 2 / 3)

  private def simulate(stream: Stream, options: PlanOptions, rows: Int): Outcome =
    new StreamSimulation(stream, options, rows).run(200)

  for (stream <- Seq(Uniform, HotTenth); rows <- appends)
    test(s"$stream stream of 200 appends of $rows rows: rewriting and reading are bounded") {
      val outcome = simulate(stream, byDefault, rows)
      assert(outcome.rewritten <= 8.0 && outcome.read <= 1.4)
      val less = simulate(stream, lessWriting, rows)
      assert(less.rewritten <= 5.0 && less.read <= 2.0)
    }

  for (rows <- appends)
    test(s"data that comes in order of time, $rows rows at once, is hardly rewritten") {
      val outcome = simulate(TimeCorrelated, byDefault, rows)
      assert(outcome.rewritten <= 2.5 && outcome.read <= 1.3)
    }

  test("appends of a tenth of a file are rewritten hardly more often") {
    assert(simulate(Uniform, byDefault, RowsPerFile.toInt / 10).rewritten <= 8.0)
  }

  test("policy all rewrites everything each time, and reads as a full clustering does") {
    val outcome =
      new StreamSimulation(Uniform, byDefault.copy(policy = MergePolicyName.All)).run(20)
    // 20 appends of 0.5 %: rows written are 20 + 0.005 · (1 + … + 20), of appended ones 0.1.
    assert(math.abs(outcome.rewritten - (20 + 0.005 * 210) / 0.1) < 0.01)
    assert(math.abs(outcome.read - 1.0) < 0.02)
  }

  test("a run after which nothing was appended plans nothing") {
    val simulation = new StreamSimulation(Uniform, byDefault)
    (1 to 5).foreach { _ =>
      simulation.run(7)
      assert(simulation.planNow.isEmpty)
    }
  }
}
