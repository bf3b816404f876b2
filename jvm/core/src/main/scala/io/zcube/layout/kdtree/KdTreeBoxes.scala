package io.zcube.layout.kdtree

import io.zcube.layout.{FileBoxes, Layout}

/** The numbers of a k-d tree's boxes alone, which are those of the files where each box is a file.
  *
  * Only the bounds between buckets that the tree cuts at matter to it, as many in all columns together as
  * it has nodes. So a value is looked up among a few of them instead of thousands, in memory that
  * the processor has at hand.
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
    // The greatest rank of a low side is that of the bucket which the bound of its own number ends.
    val cuts = tree.cuts(dimensions).map(_.filter(_ > Layout.NullRank))
    val among = tree.recut((column, greatest) =>
      if (greatest == Layout.NullRank) Layout.NullRank
      else java.util.Arrays.binarySearch(cuts(column), greatest) + 1)
    new KdTreeBoxes(among, cuts.map(_.map(_ - 1)))
  }
}
