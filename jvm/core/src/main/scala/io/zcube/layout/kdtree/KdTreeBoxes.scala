package io.zcube.layout.kdtree

import io.zcube.layout.{FileBoxes, Layout}

/** Finds only the number of a k-d tree's box, which is that of the file if each box is a file.
  *
  * Only the bounds between buckets that the tree cuts at matter, and all columns together have no
  * more of them than the tree has nodes. So a value is looked up among a few bounds instead of
  * thousands, which fit into the processor's cache.
  *
  * Example: a tree that cuts a column at the ranks 7 and 3 needs its bounds 2 and 6; ranks 1 to 3
  * become 1, 4 to 7 become 2, those above become 3, and NULL stays 0.
  *
  * @param tree   from ranks among these bounds to boxes
  * @param bounds for each column, the numbers of the bounds that are cut at, ascending
  */
final class KdTreeBoxes private (tree: KdTree, override val bounds: IndexedSeq[Array[Int]])
    extends FileBoxes {

  override def dimensions: Int = bounds.length

  override def ranks(column: Int): Array[Int] = Array.range(1, bounds(column).length + 2)

  override def keyOf(point: Array[Int]): Long = tree.boxOf(point).toLong
}

object KdTreeBoxes {

  /** @param tree over ranks that are the numbers of buckets plus 1, and 0 for NULL */
  def of(tree: KdTree, dimensions: Int): KdTreeBoxes = {
    // The largest rank of a low side is that of the bucket that ends at the bound with the same
    // number.
    val cuts = tree.cuts(dimensions).map(_.filter(_ > Layout.NullRank))
    val among = tree.recut((column, rank) =>
      if (rank == Layout.NullRank) Layout.NullRank
      else java.util.Arrays.binarySearch(cuts(column), rank) + 1)
    new KdTreeBoxes(among, cuts.map(_.map(_ - 1)))
  }
}
