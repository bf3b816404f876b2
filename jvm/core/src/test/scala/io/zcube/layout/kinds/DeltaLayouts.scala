package io.zcube.layout.kinds

import scala.util.Random

import io.zcube.curve.HilbertCurve

/** Reimplements Delta's layouts from its source (MultiDimClustering, 4.4.0), using only the Hilbert
  * curve from ZCube: dense range ids, 1,000 per column, with NULL as the smallest value; sorted
  * along the Z-order or the Hilbert curve of these, rows with equal keys in random order; cut
  * evenly.
  */
object DeltaLayouts {

  private val Ranges = 1000
  private val RangeBits = 10

  /** The maximum number of columns in Delta's CLUSTER BY. */
  val MaxClustered = 4

  /** By number of files: the file of each row by ZORDER BY. */
  def zOrder(columns: Seq[TestColumn]): Int => Array[Int] = {
    val ordered = order(ids(columns), isLessByBits)
    cut(ordered, _)
  }

  /** By number of files: the file of each row by CLUSTER BY, of one column by Z-order, as in Delta. */
  def clusterBy(columns: Seq[TestColumn]): Int => Array[Int] =
    if (columns.size == 1) zOrder(columns)
    else {
      val curve = HilbertCurve(columns.size, RangeBits)
      val keys = ids(columns).map(point => curve.index(point.clone()))
      val random = new Random(5)
      val noise = keys.map(_ => random.nextInt(256))
      // The curve's 40 bits at most, then the noise, then the given order.
      val ordered = keys.indices.toArray.sortBy(row => keys(row) << 8 | noise(row))
      cut(ordered, _)
    }

  /** For each row, the range ids of its columns. */
  private def ids(columns: Seq[TestColumn]): Array[Array[Int]] =
    columns.map(rangeIds).toArray.transpose

  private def rangeIds(column: TestColumn): Array[Int] = {
    val sorted = column.values.sorted
    val bounds =
      (1 until Ranges).map(i => sorted(i * (sorted.length - 1) / Ranges)).distinct.toArray
    column.values.map { value =>
      val found = java.util.Arrays.binarySearch(bounds, value)
      if (found >= 0) found else -found - 1
    }
  }

  private def order(
      points: Array[Array[Int]],
      isLess: (Array[Int], Array[Int]) => Boolean): Array[Int] = {
    val shuffled = new Random(7).shuffle(points.indices.toVector).toArray
    shuffled.sortWith((a, b) => isLess(points(a), points(b)))
  }

  /** T. M. Chan's comparison: the column whose ids differ in the highest bit decides, the first of them. */
  private def isLessByBits(a: Array[Int], b: Array[Int]): Boolean = {
    var column = 0
    var highest = 0
    a.indices.foreach { c =>
      val differing = a(c) ^ b(c)
      if (Integer.highestOneBit(differing) > Integer.highestOneBit(highest)) {
        column = c
        highest = differing
      }
    }
    a(column) < b(column)
  }

  private def cut(ordered: Array[Int], files: Int): Array[Int] = {
    val file = new Array[Int](ordered.length)
    ordered.zipWithIndex.foreach { case (row, place) =>
      file(row) = (place.toLong * files / ordered.length).toInt
    }
    file
  }
}
