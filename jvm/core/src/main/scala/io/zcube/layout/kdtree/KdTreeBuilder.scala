package io.zcube.layout.kdtree

import scala.collection.mutable

/** Cuts a sample into boxes, top down. Each box gets the cut that a rule finds, and its files are
  * divided in proportion to the rows. A box of one file is finished, and so is one of several files
  * that no value divides.
  *
  * Cost: as many passes over the sample as the tree has levels, times columns squared.
  *
  * @param points for each column, the rank of each sampled row; NULL has `Layout.NullRank`
  * @param files  number of files wanted
  * @param search the rule
  */
final private[layout] class KdTreeBuilder(
    points: Array[Array[Int]],
    files: Int,
    search: SplitSearch) {
  import KdTreeBuilder.Box

  private val size = points.head.length
  private val rows = Array.range(0, size)

  private val nodes = mutable.ArrayBuffer.empty[Int]
  private val boxes = mutable.ArrayBuffer.empty[Box]

  /** The tree, and its boxes in the order of their numbers. */
  def build(): (KdTree, Seq[Box]) = {
    val _ = grow(0, size, files)
    (new KdTree(nodes.toArray), boxes.toSeq)
  }

  /** @return the number of the node, or the complement of the number of the box */
  private def grow(from: Int, until: Int, files: Int): Int =
    (if (files > 1 && from < until) search.find(rows, from, until, files) else None) match {
      case Some(split) =>
        val node = nodes.length / KdTree.NodeSize
        nodes ++= Seq(split.column, split.maxRank, 0, 0)
        val middle = split.divide(points, rows, from, until)
        nodes(node * KdTree.NodeSize + 2) = grow(from, middle, split.lowFiles)
        nodes(node * KdTree.NodeSize + 3) = grow(middle, until, files - split.lowFiles)
        node
      case None =>
        boxes += Box(rows.slice(from, until), files)
        ~(boxes.length - 1)
    }
}

private[layout] object KdTreeBuilder {

  /** A box of the tree.
    *
    * @param rows  numbers of the sampled rows in it
    * @param files how many files it becomes: more than one only if it can't be cut
    */
  final case class Box(rows: Array[Int], files: Int)
}
