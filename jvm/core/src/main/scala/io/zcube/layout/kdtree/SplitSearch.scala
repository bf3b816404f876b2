package io.zcube.layout.kdtree

/** Decides where a box that becomes several files is cut. */
private[layout] trait SplitSearch {

  /** @param rows  numbers of the sampled rows; those of the box are at [from, until)
    * @param files how many files the box becomes, at least 2
    * @return None if no cut between two values leaves parts that are close enough to whole files
    */
  def find(rows: Array[Int], from: Int, until: Int, files: Int): Option[KdSplit]
}

/** A cut of a box into two.
  *
  * @param column   the column that is cut
  * @param greatest the largest rank that goes to the low side
  * @param lowFiles how many of the box's files the low side gets
  */
final private[layout] case class KdSplit(column: Int, greatest: Int, lowFiles: Int)
