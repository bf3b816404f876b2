package io.zcube.layout.kinds

import scala.util.Random

/** Queries of four kinds, as `benchmarks/quality` has them, and the share of files that they read.
  *
  * @param columns of the table that they ask
  */
final class TestQueries(columns: Seq[TestColumn], seed: Int) {
  import TestColumn.Null
  import TestQueries._

  private val random = new Random(seed)
  private val rows = columns.head.values.length
  private val answerable: Seq[Int] = {
    def of(isKnown: Int => Boolean) = (0 until rows).filter(isKnown)
    val whole = of(row => columns.forall(_.values(row) != Null))
    if (whole.size >= Each) whole else of(row => columns.exists(_.values(row) != Null))
  }

  /** By kind. */
  private val queries: Map[String, Seq[Query]] = Map(
    // 1 % of the rows by one column.
    "range" -> (0 until Each).map(i => Query(Seq(interval(i % columns.size, 0.01)), any = false)),
    // 10 % of the rows by each column.
    "box" -> (0 until Each).map(_ => Query(columns.indices.map(interval(_, 0.1)), any = false)),
    "point" -> (0 until Each).map { _ =>
      val row = pick()
      Query(columns.indices.flatMap(equal(_, row)), any = false)
    },
    "or" -> (0 until Each).map { _ =>
      val two = random.shuffle(columns.indices.toList).take(2)
      Query(two.padTo(2, two.head).flatMap(equal(_, pick())), any = true)
    }
  ).map { case (kind, of) => kind -> of.filter(_.intervals.nonEmpty) }

  /** By kind, the share of all files that must be read, summed over the queries. Reading no file at all
    * counts as one, as no share may be 0.
    */
  def read(fileOf: Array[Int]): Map[String, Double] = {
    val files = fileOf.max + 1
    val counts = new Array[Int](files)
    fileOf.foreach(counts(_) += 1)
    val extents = columns.map { column =>
      val low = Array.fill(files)(Long.MaxValue)
      val high = Array.fill(files)(Long.MinValue)
      fileOf.indices.foreach { row =>
        val value = column.values(row)
        if (value != Null) {
          val seen = column.seen(value)
          low(fileOf(row)) = math.min(low(fileOf(row)), seen)
          high(fileOf(row)) = math.max(high(fileOf(row)), seen)
        }
      }
      (low, high)
    }
    def touches(file: Int, interval: Interval): Boolean = {
      val (low, high) = extents(interval.column)
      val seen = columns(interval.column).seen
      low(file) <= seen(interval.high) && high(file) >= seen(interval.low)
    }
    val some = (0 until files).count(counts(_) > 0)
    // A loop, because a collection would make an object of each number.
    def filesOf(query: Query): Int = {
      var (read, file) = (0, 0)
      while (file < files) {
        val isRead = counts(file) > 0 &&
          (if (query.any) query.intervals.exists(touches(file, _))
           else query.intervals.forall(touches(file, _)))
        if (isRead) read += 1
        file += 1
      }
      read
    }
    queries.map { case (kind, of) => kind -> math.max(1, of.map(filesOf).sum).toDouble / some }
  }

  private def pick(): Int = answerable(random.nextInt(answerable.size))

  private def interval(column: Int, share: Double): Interval = {
    val known = columns(column).known
    val length = math.max(1, math.min(share * rows, 2 * share * known.length).round.toInt)
    val start = random.nextInt(known.length - length)
    Interval(column, known(start), known(start + length - 1))
  }

  private def equal(column: Int, row: Int): Option[Interval] = {
    val value = columns(column).values(row)
    Option.when(value != Null)(Interval(column, value, value))
  }
}

object TestQueries {
  private val Each = 100

  private case class Interval(column: Int, low: Long, high: Long)

  private case class Query(intervals: Seq[Interval], any: Boolean)
}
