package io.zcube.sql.simulation

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class OccupancySuite extends AnyFunSuite {

  /** The chance of other files on average, and the share of them that really have a row, if a table's
    * rare rows are anywhere in the first files.
    */
  private def compared(files: Int, of: Int, rare: Int, share: Double): (Double, Double) = {
    val random = new Random(files * 31L + of)
    val all = Seq.fill(400) {
      val rows = Seq.fill(rare)(random.nextInt(of))
      val sampled = rows.filter(_ => random.nextDouble() < share)
      val occupied = sampled.distinct.size
      if (occupied == 0) (0.0, 0.0)
      else {
        val others = Occupancy.ofOthers(occupied, files, sampled.size, share) * (files - occupied)
        (others, rows.distinct.size - occupied.toDouble)
      }
    }
    (all.map(_._1).sum / all.size, all.map(_._2).sum / all.size)
  }

  test("rows that are anywhere in all files or in some") {
    for ((of, rare) <- Seq(100 -> 500, 100 -> 100, 30 -> 500, 10 -> 500, 3 -> 200)) {
      val (predicted, real) = compared(100, of, rare, 0.1)
      assert(math.abs(predicted - real) < 0.25 * real + 1.0, (of, rare))
    }
  }

  test("rows of one file, rows that share none, and rows in all files") {
    assert(Occupancy.ofOthers(1, 100, 20, 0.01) < 0.001)
    assert(Occupancy.ofOthers(5, 100, 5, 0.001) > 0.999)
    assert(Occupancy.ofOthers(100, 100, 5000, 0.01) == 0.0)
    assert(Occupancy.ofOthers(1, 1, 7, 0.5) == 0.0)
    // There are no others than the sample's.
    assert(Occupancy.ofOthers(5, 100, 5, 1.0) < 0.01)
  }
}
