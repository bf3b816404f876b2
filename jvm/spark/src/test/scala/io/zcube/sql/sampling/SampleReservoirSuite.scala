package io.zcube.sql.sampling

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class SampleReservoirSuite extends AnyFunSuite {

  private val random = new Random(1)
  private val rows =
    Seq.fill(5000)((random.nextLong() >>> 1, new Array[Byte](8 + random.nextInt(100))))

  private def sampled(parts: Seq[Seq[(Long, Array[Byte])]], limits: SampleLimits): Seq[Long] = {
    val merged = new SampleReservoir(limits, Long.MaxValue)
    parts.foreach { part =>
      val task = new SampleReservoir(limits, Long.MaxValue)
      part.foreach { case (hash, row) => task.add(hash, row) }
      merged.lowerTo(task.threshold)
      task.result().foreach { case (hash, row) => merged.add(hash, row) }
    }
    merged.result().map(_._1).toSeq
  }

  /** The definition: rows by hash, as many as fit. */
  private def expected(limits: SampleLimits): Seq[Long] = {
    val sorted = rows.sortBy(_._1)
    val costs = sorted.scanLeft(0L)((sum, r) => sum + r._2.length + SampleLimits.RowOverhead).tail
    sorted.zip(costs).take(limits.rows).takeWhile(_._2 <= limits.bytes).map(_._1._1)
  }

  for (limits <-
      Seq(SampleLimits(100, 1L << 20), SampleLimits(5000, 20000L), SampleLimits(9999, 1L << 30)))
    test(s"the rows with the smallest hashes that fit $limits, however divided and in any order") {
      assert(sampled(Seq(rows), limits) === expected(limits))
      Seq(2, 7, 50).foreach { parts =>
        val divided = random.shuffle(rows).grouped(rows.length / parts + 1).toSeq
        assert(sampled(divided, limits) === expected(limits))
      }
    }
}
