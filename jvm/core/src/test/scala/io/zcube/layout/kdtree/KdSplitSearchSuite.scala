package io.zcube.layout.kdtree

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.zcube.layout.Layout

/** The search finds what a search by the definition finds. */
class KdSplitSearchSuite extends AnyFunSuite {

  /** All cuts between two ranks that occur, one after the other. */
  private class ByDefinition(
      points: Array[Array[Int]],
      ranks: Array[Int],
      weights: Array[Double],
      sizes: RowsPerFile)
      extends SplitSearch {

    private val widths = new BoxWidths(points, ranks, weights)

    private def widthOf(rows: Seq[Int]): Double =
      points.indices.map { c =>
        val own = rows.map(points(c)(_))
        widths.of(c, own.min, own.max)
      }.foldLeft(0.0)(_ + _)

    private def tolerance(files: Int) = math.min(0.04 + 0.08 / files, sizes.largest - 1)

    private def isBearable(size: Double) = size >= 0.6 && size <= math.min(1.2, sizes.largest)

    override def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit] = {
      val box = rows.slice(from, until).toSeq
      val wholeError = math.abs(box.size / (files * sizes.mean) - 1)
      val cuts = for {
        column <- points.indices
        occurring = box.map(points(column)(_)).distinct.sorted
        (rank, next) <- occurring.zip(occurring.drop(1))
        (low, high) = box.partition(points(column)(_) <= rank)
        share = low.size.toDouble * files / box.size
        lowFiles = math.max(1, math.min(files - 1, math.round(share).toInt))
        highFiles = files - lowFiles
        lowSize = low.size / (lowFiles * sizes.mean)
        highSize = high.size / (highFiles * sizes.mean)
        error = math.max(math.abs(lowSize - 1), math.abs(highSize - 1))
        isEven = math.abs(lowSize - 1) <= math.max(wholeError, tolerance(lowFiles)) &&
          math.abs(highSize - 1) <= math.max(wholeError, tolerance(highFiles))
        if isEven || (isBearable(lowSize) && isBearable(highSize))
      } yield {
        val saved =
          files * widthOf(box) - lowFiles * widthOf(low) - highFiles * widthOf(high)
        val evenness = math.max(0.1, 1 - 2 * math.max(0.0, error - wholeError))
        val score = saved * evenness * (if (rank == Layout.NullRank) 1.2 else 1.0)
        (isEven, score, KdSplit(column, rank + (next - rank - 1) / 2, lowFiles))
      }
      val even = cuts.filter(_._1)
      // The first of the best.
      if (even.nonEmpty) Some(even.reduce((a, b) => if (b._2 > a._2) b else a)._3)
      else
        cuts.filter(_._2 > 0).reduceOption((a, b) => if (b._2 > a._2) b else a).map(_._3)
    }
  }

  /** Ranks of some columns: dense or with gaps, with NULLs, correlated, skewed, of one value. */
  private def randomPoints(random: Random, rows: Int): Array[Array[Int]] = {
    val columns = 1 + random.nextInt(4)
    val first = Array.fill(rows)(random.nextInt(1000))
    Array.fill(columns) {
      val range = Seq(1, 3, 50, 1000, 60000)(random.nextInt(5))
      val scale = Seq(1, 7, 64)(random.nextInt(3))
      val nulls = Seq(0.0, 0.0, 0.3)(random.nextInt(3))
      val kind = random.nextInt(3)
      Array.tabulate(rows) { row =>
        val value = kind match {
          case 0 => random.nextInt(range)
          case 1 => (math.pow(random.nextDouble(), 4) * range).toInt
          case _ => first(row) % range
        }
        if (random.nextDouble() < nulls) Layout.NullRank else Layout.NullRank + 1 + value * scale
      }
    }
  }

  test("each box is cut as by the definition, on random samples") {
    var cut, uncut = 0
    for (seed <- 1 to 60) {
      val random = new Random(seed)
      val rows = 1 + random.nextInt(Seq(20, 120)(seed % 2))
      val points = randomPoints(random, rows)
      val ranks = points.map(_.max + 1)
      val weights = points.map(_ => Seq(1.0, 1.0, 2.5)(random.nextInt(3)))
      val files = 2 + random.nextInt(12)
      val mean = rows.toDouble / files
      val sizes = if (random.nextBoolean()) RowsPerFile(mean) else RowsPerFile(mean, 1.08)
      val expected = new ByDefinition(points, ranks, weights, sizes)
      val search = KdSplitSearch.of(points, ranks, weights)(sizes)
      // Scratch space is used again for each box.
      val (tree, boxes) =
        new KdTreeBuilder(
          points,
          files,
          (numbers, from, until, count) => {
            val found = search.find(numbers, from, until, count)
            assert(found == expected.find(numbers, from, until, count), s"seed $seed")
            if (found.isDefined) cut += 1 else uncut += 1
            found
          }
        ).build()
      assert(boxes.map(_.rows.length).sum == rows && tree.boxes == boxes.size)
    }
    assert(cut > 100 && uncut > 10, (cut, uncut))
  }
}
