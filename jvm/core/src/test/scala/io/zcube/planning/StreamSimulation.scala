package io.zcube.planning

import java.util.Arrays

import scala.util.Random

/** A table of points that grows by appends, each followed by an OPTIMIZE; no Spark. Files are laid out
  * by a k-d tree over exact ranks; a file is read if its box overlaps the query.
  *
  * @param rowsOfAppend rows of each append; the table has 200 times as many before the first
  */
final class StreamSimulation(
    stream: StreamSimulation.Stream,
    options: PlanOptions,
    rowsOfAppend: Int = StreamSimulation.RowsPerFile.toInt,
    budget: Option[Double] = None) {
  import StreamSimulation._

  private val random = new Random(11)
  private var files: Vector[File] =
    layOut(stream.first(random, 200 * rowsOfAppend), Some("first"))
  private var written = 0L
  private var appended = 0L
  private var cubes = 0

  def run(appends: Int): Outcome = {
    val readings = (1 to appends).flatMap { number =>
      val rows = stream.append(random, number, rowsOfAppend)
      appended += rows.length
      files :+= new File(s"append-$number", rows, None)
      optimize()
      Option.when(number % 10 == 0)(read())
    }
    val (now, full) = (readings.map(_._1).sum, readings.map(_._2).sum)
    Outcome(written.toDouble / appended, now / full, files.flatMap(_.cube).distinct.size)
  }

  /** Simulates an OPTIMIZE. */
  def planNow: ClusteringPlan = {
    val described = files.map(_.described)
    val maxBytes = budget.map(share => (share * DataFile.bytesOf(described)).toLong)
    new ZCubePlanner(options.copy(maxBytes = maxBytes)).plan(described)
  }

  private def optimize(): Unit =
    planNow.groups.foreach { cube =>
      val paths = cube.files.map(_.file.path).toSet
      val (rewritten, rest) = files.partition(f => paths(f.path))
      written += rewritten.map(_.rows.length.toLong).sum
      cubes += 1
      files = rest ++ layOut(rewritten.flatMap(_.rows).toArray, Some(s"cube-$cubes"), cube.extents)
    }

  private def read(): (Double, Double) = {
    val rows = files.flatMap(_.rows).toArray
    val queries = queriesOver(rows, new Random(7))
    val full = layOut(rows, None)
    (filesRead(files, queries), filesRead(full, queries))
  }
}

object StreamSimulation {

  type Point = (Double, Double)
  type Box = (Point, Point)

  val RowsPerFile = 100L

  /** @param rewritten bytes rewritten for each byte appended
    * @param read      files read, as a multiple of those of one full clustering at the same moment
    */
  final case class Outcome(rewritten: Double, read: Double, cubes: Int)

  sealed trait Stream {
    def first(random: Random, rows: Int): Array[Point]
    def append(random: Random, number: Int, rows: Int): Array[Point]
  }

  case object Uniform extends Stream {
    override def first(random: Random, rows: Int): Array[Point] =
      Array.fill(rows)((random.nextDouble(), random.nextDouble()))
    override def append(random: Random, number: Int, rows: Int): Array[Point] = first(random, rows)
  }

  /** The first column is a time; rows come late by one append on average. */
  case object TimeCorrelated extends Stream {
    override def first(random: Random, rows: Int): Array[Point] =
      Array.fill(rows)((random.nextDouble() * 200, random.nextDouble()))
    override def append(random: Random, number: Int, rows: Int): Array[Point] = Array.fill(rows) {
      val late = -math.log(1 - random.nextDouble())
      (200 + number + random.nextDouble() - late, random.nextDouble())
    }
  }

  /** Nine in ten rows fall into a tenth of the first column. */
  case object HotTenth extends Stream {
    override def first(random: Random, rows: Int): Array[Point] = Uniform.first(random, rows)
    override def append(random: Random, number: Int, rows: Int): Array[Point] = Array.fill(rows) {
      val hot = random.nextInt(10) < 9
      val x = random.nextDouble()
      (if (hot) 0.4 + x / 10 else x, random.nextDouble())
    }
  }

  final private class File(val path: String, val rows: Array[Point], val cube: Option[String]) {
    val box: Box =
      ((rows.map(_._1).min, rows.map(_._2).min), (rows.map(_._1).max, rows.map(_._2).max))

    def described: DataFile = {
      def key(value: Double): Long = (value * 1e12).toLong
      val ranges = new KeyRanges(
        Array(key(box._1._1), key(box._1._2)),
        Array(key(box._2._1), key(box._2._2)))
      DataFile(
        path,
        rows.length.toLong,
        Some(rows.length.toLong),
        cube = cube.map(CubeTag(_, matches = true)),
        ranges = ranges)
    }
  }

  private val numbers = Iterator.from(1)

  private def sortedBy(rows: Array[Point], column: Point => Double): Array[Double] = {
    val sorted = rows.map(column)
    // Scala's sorting makes an object of each number.
    Arrays.sort(sorted)
    sorted
  }

  /** Cuts the side of a cell that is longest: as a share of the rows, times the extent. */
  private def layOut(
      rows: Array[Point],
      cube: Option[String],
      extents: Seq[Double] = Nil): Vector[File] = {
    val sides = if (extents.isEmpty) Seq(1.0, 1.0) else extents
    val columns = Seq[Point => Double](_._1, _._2)
    val sorted = columns.map(sortedBy(rows, _))
    def rank(column: Int, value: Double): Int = Arrays.binarySearch(sorted(column), value)
    val count = math.max(1, math.ceil(rows.length / (RowsPerFile * 1.05)).toInt)
    def length(cell: Array[Point], column: Int): Double = {
      val values = cell.map(columns(column))
      (rank(column, values.max) - rank(column, values.min)) * sides(column)
    }
    HalvedCells.of(rows, count, columns.size)(length)((cell, column) =>
      cell.sortBy(columns(column)))
      .map(new File(s"file-${numbers.next()}", _, cube))
  }

  /** One range of 1 %, a box of 10 %, a point, an OR of two ranges of 1 %: 50 of each. */
  private def queriesOver(rows: Array[Point], random: Random): Seq[Seq[Box]] = {
    val sorted = Seq(sortedBy(rows, _._1), sortedBy(rows, _._2))
    def range(column: Int, width: Double): (Double, Double) = {
      val from = random.nextDouble() * (1 - width)
      val last = rows.length - 1
      (
        sorted(column)((from * last).toInt),
        sorted(column)(math.min(last, ((from + width) * last).toInt)))
    }
    val everywhere = (Double.NegativeInfinity, Double.PositiveInfinity)
    def box(x: (Double, Double), y: (Double, Double)): Box = ((x._1, y._1), (x._2, y._2))
    (0 until 200).map { number =>
      number % 4 match {
        case 0 if number % 8 == 0 => Seq(box(range(0, 0.01), everywhere))
        case 0 => Seq(box(everywhere, range(1, 0.01)))
        case 1 => Seq(box(range(0, math.sqrt(0.1)), range(1, math.sqrt(0.1))))
        case 2 =>
          val point = rows(random.nextInt(rows.length))
          Seq((point, point))
        case _ => Seq(box(range(0, 0.01), everywhere), box(everywhere, range(1, 0.01)))
      }
    }
  }

  private def filesRead(files: Seq[File], queries: Seq[Seq[Box]]): Double = queries.map { boxes =>
    files.count { file =>
      boxes.exists { case (low, high) =>
        file.box._1._1 <= high._1 && file.box._2._1 >= low._1 &&
        file.box._1._2 <= high._2 && file.box._2._2 >= low._2
      }
    }
  }.sum.toDouble / queries.size
}
