package io.zcube.quality

import scala.collection.immutable.SortedMap

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Compares with the definitions, over all pairs and all points. */
class LayoutQualitySuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 300)

  /** None: no statistics. Some(None): NULLs only. */
  private type Extent = Option[Option[(Long, Long)]]

  private val extents: Gen[Extent] = Gen.frequency(
    8 -> (for {
      a <- Gen.choose(-12L, 12L)
      width <- Gen.frequency(3 -> Gen.choose(0L, 4L), 1 -> Gen.choose(0L, 20L))
    } yield Some(Some((a, a + width)))),
    1 -> Gen.const(None),
    1 -> Gen.const(Some(None))
  )

  private def tables(columns: Int): Gen[Vector[Vector[Extent]]] =
    Gen.choose(0, 40).flatMap(n =>
      Gen.listOfN(n, Gen.listOfN(columns, extents).map(_.toVector)).map(_.toVector))

  private def ranges(column: Seq[Extent]): FileRanges = {
    val (kinds, lower, upper) = arrays(column)
    FileRanges.ofLongs(kinds, lower, upper)
  }

  private def arrays(column: Seq[Extent]): (Array[Byte], Array[Long], Array[Long]) = (
    column.map {
      case None => FileRanges.Unknown
      case Some(None) => FileRanges.OnlyNulls
      case _ => FileRanges.Known
    }.toArray,
    column.map(_.flatten.fold(7L)(_._1)).toArray,
    column.map(_.flatten.fold(-7L)(_._2)).toArray)

  private def holds(extent: Extent, point: Long): Boolean = extent match {
    case None => true
    case Some(None) => false
    case Some(Some((low, high))) => low <= point && point <= high
  }

  private def meets(a: Extent, b: Extent): Boolean = (a, b) match {
    case (Some(None), _) | (_, Some(None)) => false
    case (Some(Some((low, high))), Some(Some((otherLow, otherHigh)))) =>
      (low to high).exists(point => otherLow <= point && point <= otherHigh)
    case _ => true
  }

  private def check(
      quality: LayoutQuality,
      table: Vector[Vector[Extent]],
      depth: Vector[Extent] => Int): Unit = {
    val known = table.filter(_.forall(_.flatten.isDefined))
    val overlaps = table.zipWithIndex.collect {
      case (file, i) if file.forall(_.flatten.isDefined) =>
        table.zipWithIndex.count { case (other, j) =>
          i != j && file.zip(other).forall { case (a, b) => meets(a, b) }
        }
    }
    val holding = known.map(file => stabbed(table, file.map(_.flatten.get._1)))
    val depths = known.map(depth)
    def average(of: Seq[Int]) = Option.when(of.nonEmpty)(of.sum.toDouble / of.size)
    assert(quality.files == table.size)
    assert(quality.filesWithStats == known.size)
    assert(quality.measured == known.size)
    assert(quality.constantFiles == known.count(_.forall(_.flatten.exists(e => e._1 == e._2))))
    assert(quality.averageOverlaps == average(overlaps))
    assert(quality.averageDepth == average(depths))
    assert(quality.maximumDepth == depths.maxOption)
    assert(quality.depthHistogram ==
      SortedMap.from(depths.groupBy(identity).map { case (d, of) => d -> of.size.toLong }))
    assert(quality.skippingEffectiveness == average(holding).map(1.0 - _ / table.size))
    ()
  }

  private def stabbed(table: Vector[Vector[Extent]], point: Seq[Long]): Int =
    table.count(file => file.zip(point).forall { case (extent, p) => holds(extent, p) })

  test("one column: overlaps, depth and skipping equal those from all pairs and all points") {
    forAll(tables(1)) { table =>
      check(
        LayoutQuality.ofColumn(ranges(table.map(_.head))),
        table,
        file => {
          val (low, high) = file.head.flatten.get
          (low to high).map(point => stabbed(table, Seq(point))).max
        }
      )
    }
  }

  for (columns <- 1 to 4)
    test(s"boxes of $columns columns: depth is taken at the lower corner") {
      forAll(tables(columns)) { table =>
        check(
          LayoutQuality.ofBoxes((0 until columns).map(c => ranges(table.map(_(c))))),
          table,
          file => stabbed(table, file.map(_.flatten.get._1)))
      }
    }

  test("strings are ranked as they compare") {
    forAll(tables(2)) { table =>
      def texts(column: Vector[Extent]) = {
        val (kinds, lower, upper) = arrays(column)
        def spelled(values: Array[Long]) = values.map(v => "x" * (v + 100).toInt)
        val order: java.util.Comparator[AnyRef] = (a, b) =>
          a.asInstanceOf[String].compareTo(b.asInstanceOf[String])
        FileRanges.of(kinds, spelled(lower), spelled(upper), order)
      }
      assert(LayoutQuality.ofBoxes(Vector(0, 1).map(c => texts(table.map(_(c))))) ==
        LayoutQuality.ofBoxes(Vector(0, 1).map(c => ranges(table.map(_(c))))))
    }
  }

  test("a maximum below its minimum makes the file unknown") {
    val odd = FileRanges.ofLongs(Array[Byte](0, 0), Array(5L, 1L), Array(3L, 2L))
    val quality = LayoutQuality.ofColumn(odd)
    assert(quality.filesWithStats == 1 && quality.averageOverlaps.contains(1.0))
  }

  test("a large grid in any order: skipping blocks never changes the result") {
    // Boxes that share their sides with their neighbours: 8 of them, fewer at the rim. There are more
    // than one thread scans at a time.
    val side = 160
    val boxes = side * side
    val grid = new scala.util.Random(5).shuffle((0 until boxes).toVector)
    def range(of: Int => Int) = FileRanges.ofLongs(
      new Array[Byte](grid.size),
      grid.map(i => of(i).toLong).toArray,
      grid.map(i => of(i).toLong + 1).toArray)
    val columns = Vector(range(_ % side), range(_ / side))
    val quality = LayoutQuality.ofBoxes(columns, exactUpTo = boxes)
    val pairs = (3.0 * side - 2) * (3.0 * side - 2)
    assert(quality.averageOverlaps.contains((pairs - boxes) / boxes))
    val (rim, inside) = (2L * (side - 1), (side - 1L) * (side - 1))
    assert(quality.depthHistogram == SortedMap(1 -> 1L, 2 -> rim, 4 -> inside))
    val sampled = LayoutQuality.ofBoxes(columns, exactUpTo = 512)
    assert(sampled.measured == 512 && sampled.files == boxes)
    assert(math.abs(sampled.averageDepth.get - quality.averageDepth.get) < 0.1)
    // The sample doesn't depend on the order of the files.
    def again(column: Int) = {
      val ordered =
        (0 until boxes).map(i => (if (column == 0) i % side else i / side).toLong).toArray
      FileRanges.ofLongs(new Array[Byte](boxes), ordered, ordered.map(_ + 1))
    }
    assert(LayoutQuality.ofBoxes(Vector(again(0), again(1)), exactUpTo = 512) == sampled)
  }
}
