package io.zcube.layout.kdtree

/** Decides where a box that becomes several files is cut. */
private[layout] trait SplitSearch {

  /** @param rows  numbers of the sampled rows; those of the box are at [from, until)
    * @param files how many files the box becomes, at least 2
    * @return None if no cut between two values leaves parts that are close enough to whole files
    */
  def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit]
}

/** The rows of files.
  *
  * @param mean    rows of the sample in a file of mean size
  * @param largest how many times as many rows a file may have
  */
final private[layout] case class RowsPerFile(
    mean: Double,
    largest: Double = Double.PositiveInfinity) {

  /** How far the mean size of these files is from the table's: 0.1 is a tenth larger or smaller. */
  def deviation(rows: Int, files: Int): Double = math.abs(relative(rows, files) - 1)

  /** The mean size of these files; 1 is the table's. */
  def relative(rows: Int, files: Int): Double = rows / (files * mean)
}

private[layout] object RowsPerFile {

  /** How many of a box's files are for the rows of its low side; each side has one at least. */
  def lowFiles(files: Int, below: Int, rows: Int): Int =
    math.max(1, math.min(files - 1, math.round(below.toDouble * files / rows).toInt))
}

/** A cut of a box into two.
  *
  * @param column   the column that is cut
  * @param maxRank the largest rank that goes to the low side
  * @param lowFiles how many of the box's files the low side gets
  */
final private[layout] case class KdSplit(column: Int, maxRank: Int, lowFiles: Int) {

  /** Moves the rows of the low side to the front.
    *
    * @param points for each column, the rank of each sampled row
    * @param rows   numbers of rows; those at [from, until) are divided
    * @return the start of the high side
    */
  def divide(points: Array[Array[Int]], rows: Array[Int], from: Int, until: Int): Int = {
    val ranks = points(column)
    var low = from
    var high = until - 1
    while (low <= high) {
      val row = rows(low)
      if (ranks(row) <= maxRank) low += 1
      else {
        rows(low) = rows(high)
        rows(high) = row
        high -= 1
      }
    }
    low
  }
}
