package io.zcube.concurrent

import org.scalatest.funsuite.AnyFunSuite

class InParallelSuite extends AnyFunSuite {

  test("results are in the order of their inputs") {
    assert(InParallel.map(0 until 1000)(i => s"$i") == (0 until 1000).map(i => s"$i"))
    assert(InParallel.map(IndexedSeq.empty[Int])(_ + 1).isEmpty)
  }

  test("a failure is thrown") {
    val thrown = intercept[IllegalStateException] {
      InParallel.map(0 until 10)(i => if (i == 7) throw new IllegalStateException("seven") else i)
    }
    assert(thrown.getMessage.contains("seven"))
  }
}
