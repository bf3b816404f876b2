package io.zcube.benchmarks

import scala.util.Random

/** Points for the kernels. */
final class SeededPoints(dimensions: Int, bits: Int) {
  private val points: Array[Array[Int]] = {
    val random = new Random(20040381L)
    Array.fill(SeededPoints.Count, dimensions)(random.nextInt() >>> (32 - bits))
  }
  private var last = 0

  def next(): Array[Int] = {
    last = (last + 1) & (SeededPoints.Count - 1)
    points(last)
  }
}

object SeededPoints {

  /** A power of two; few enough for the first-level cache, which is the kernels' own in a query too. */
  val Count: Int = 512
}
