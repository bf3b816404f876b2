package io.zcube.layout.kdtree

import scala.collection.mutable

import io.zcube.layout.Workload

/** Cuts a sample into boxes, top down. Each box gets the best possible cut ([[KdSplitSearch]]), and
  * its files are divided in proportion to the rows. A box of one file is finished, and so is one of
  * several files that no value divides.
  *
  * Cost: as many passes over the sample as the tree has levels, times columns squared.
  *
  * @param points   for each column, the rank of each sampled row; NULL has [[Layout.NullRank]]
  * @param weights  of the columns
  * @param files    number of files wanted
  * @param workload decides the cuts by what it skips, where any of its queries gains
  */
final private[layout] class KdTreeBuilder(
    points: Array[Array[Int]],
    weights: Array[Double],
    files: Int,
    workload: Workload = Workload.Empty) {
  import KdTreeBuilder.Box

  private val size = points.head.length
  private val ranks = points.map(column => if (column.isEmpty) 1 else column.max + 1)
  private val rows = Array.range(0, size)
  private val search: SplitSearch = {
    val even = size.toDouble / files
    val usual = new KdSplitSearch(points, ranks, new BoxWidths(points, ranks, weights), even)
    if (workload.isEmpty) usual
    else new WorkloadSplitSearch(points, ranks, workload, even, usual)
  }

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
        nodes ++= Seq(split.column, split.greatest, 0, 0)
        val middle = partition(from, until, points(split.column), split.greatest)
        nodes(node * KdTree.NodeSize + 2) = grow(from, middle, split.lowFiles)
        nodes(node * KdTree.NodeSize + 3) = grow(middle, until, files - split.lowFiles)
        node
      case None =>
        boxes += Box(rows.slice(from, until), files)
        ~(boxes.length - 1)
    }

  /** Moves the rows of rank at most `greatest` to the front.
    *
    * @return the start of the others
    */
  private def partition(from: Int, until: Int, ranks: Array[Int], greatest: Int): Int = {
    var low = from
    var high = until - 1
    while (low <= high) {
      val row = rows(low)
      if (ranks(row) <= greatest) low += 1
      else {
        rows(low) = rows(high)
        rows(high) = row
        high -= 1
      }
    }
    low
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
