package io.zcube.sql.simulation

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.IntegerType
import org.scalatest.funsuite.AnyFunSuite

import io.zcube.sql.predicates.{Interval, PredicateBoxes, ValueRange}
import io.zcube.sql.sampling.RowSample

/** Counts files that a sample predicts, and those of all rows. */
class ReadingChanceSuite extends AnyFunSuite {

  private val rows = 100000
  private val files = 50

  private val random = new Random(5)

  /** How many rows have a rare value. */
  private val rare = Seq(60, 120, 600)

  /** In column 0 all values, in 1 the same in another order, in 2 a hundred values. Then, for each of
    * `rare`: a flag without order, a flag in the order of column 0, and a column with NULLs without order.
    */
  private lazy val all: IndexedSeq[InternalRow] = {
    val others = random.shuffle((0 until rows).toVector)
    def flag(set: Boolean): Any = if (set) 1 else 0
    (0 until rows).map { i =>
      val flags = rare.flatMap(few =>
        Seq(flag(others(i) < few), flag(i < few), if (others(i) >= rows - few) null else 7))
      InternalRow(Seq(i, others(i), others(i) % 100) ++ flags: _*)
    }
  }
  private val types = Seq.fill(3 + 3 * rare.size)(IntegerType)

  /** By column 0. */
  private def fileOf(row: InternalRow): Int = row.getInt(0) / (rows / files)

  /** Five in a hundred rows, and their files. */
  private val samples: Seq[(EncodedSample, Seq[SimulatedFile])] = Seq.fill(12) {
    val chosen = random.shuffle(all).take(rows / 20).toArray
    val sampled = EncodedSample.of(RowSample(types, chosen, rows.toLong, complete = false))
    sampled -> SimulatedFile.of(sampled.sample, chosen.map(fileOf))
  }
  private val whole = SimulatedFile.of(
    RowSample(types, all.toArray, rows.toLong, complete = true),
    all.map(fileOf).toArray)

  private def predicate(column: Int, range: ValueRange): PredicateBoxes =
    PredicateBoxes(Seq(Map(column -> range)), Nil)

  private def between(low: Int, high: Int): Interval = Interval(
    Some(Interval.End(low, inclusive = true)),
    Some(Interval.End(high, inclusive = true)))

  private def read(column: Int, interval: Interval): (Double, Int) =
    read(column, ValueRange.of(interval))

  /** The files read according to the samples, on average, and in truth. */
  private def read(column: Int, range: ValueRange): (Double, Int) = {
    val of = predicate(column, range)
    val predicted = samples.map { case (sampled, files) =>
      new ReadingChance(sampled, 0.05).of(files, Set(0), sampled.code(of)).sum
    }
    val test = new SkippingTest(types)
    (predicted.sum / samples.size, whole.count(MustRead(test, _, of)))
  }

  for (few <- Seq(2, 10, 30, 100, 1000))
    test(s"queries of the first and the last $few rows by a column without order") {
      val both =
        Seq(Interval.from(rows - few, inclusive = true), Interval.to(few - 1, inclusive = true))
      val (predicted, real) = both.map(read(1, _)).unzip
      // A sampled row stands for 20, so that of fewer little is known.
      val unknown = if (few < 20) 20 else 0
      assert(predicted.sum > 0.8 * real.sum && predicted.sum < 1.2 * real.sum + unknown, real)
      // In order it is one.
      assert(both.map(read(0, _)._1).forall(files => files > 0.4 && files < 1.1))
    }

  test("queries anywhere by the column that the files are ordered by") {
    val some = Seq.fill(100)(random.nextInt(rows - 400)).map(low =>
      read(0, between(low, low + random.nextInt(400))))
    assert(math.abs(some.map(_._1).sum / some.map(_._2).sum - 1) < 0.02)
  }

  test("values that many rows have are all in the sample") {
    for (value <- Seq(0, 1, 50, 98, 99)) {
      val (predicted, real) = read(2, Interval.of(value))
      assert(real == 50 && predicted > 48.5, value)
    }
  }

  for ((few, i) <- rare.zipWithIndex) {
    test(s"$few rows with a flag, without an order and in order") {
      val (predicted, real) = read(3 + 3 * i, Interval.of(1))
      assert(real > 30 && predicted > 0.8 * real && predicted < 1.15 * real, real)
      val (inOrder, one) = read(4 + 3 * i, Interval.of(1))
      assert(one == 1 && inOrder > 0.9 && inOrder < 1.1)
    }

    test(s"$few NULLs without an order") {
      val (predicted, real) = read(5 + 3 * i, ValueRange(None, nulls = true))
      assert(real > 30 && predicted > 0.8 * real && predicted < 1.15 * real, real)
    }
  }

  test("a rare value in a layout that orders by it, but not first") {
    // Ten of 50 files have the flag.
    def fileOf(row: InternalRow): Int = row.getInt(0) / (rows / 50)
    val flagged = all.filter(row => fileOf(row) % 5 == 0 && row.getInt(1) < rows / 50)
    val predicted = Seq.fill(12) {
      val chosen = random.shuffle(all).take(rows / 20)
      val sample = chosen.map(row => InternalRow(if (flagged.contains(row)) 1 else 0)).toArray
      val coded =
        EncodedSample.of(RowSample(Seq(IntegerType), sample, rows.toLong, complete = false))
      val of = coded.code(predicate(0, ValueRange.of(Interval.of(1))))
      val files = SimulatedFile.of(coded.sample, chosen.map(fileOf).toArray)
      new ReadingChance(coded, 0.05).of(files, Set(0), of).sum
    }
    assert(predicted.sum / 12 > 9 && predicted.sum / 12 < 12)
  }

  test("with all rows in the sample, nothing is a matter of chance") {
    val few = all.take(500).toArray
    val complete = EncodedSample.of(RowSample(types, few, 500L, complete = true))
    val of = SimulatedFile.of(complete.sample, few.indices.map(_ / 50).toArray)
    val chance = new ReadingChance(complete, 1.0)
    for (column <- 0 to 1; _ <- 1 to 200) {
      val low = random.nextInt(rows)
      val coded = complete.code(predicate(column, ValueRange.of(between(low, low + 300))))
      val values = few.map(_.getInt(column)).grouped(50)
      assert(chance.of(of, Set(0), coded) ==
        values.map(v => if (v.min <= low + 300 && v.max >= low) 1.0 else 0.0).toSeq)
    }
  }
}
