package io.zcube.layout.kdtree

/** A binary tree of axis-parallel cuts, and the numbers of the resulting boxes: the first box is on
  * the low side of every cut.
  *
  * The tree is one flat array with four numbers per node: the column that is cut, the largest rank
  * that goes to the low side, and the nodes of the low and the high side. A negative node is the
  * box with the number `~node`. A look-up is a loop over that array; it allocates nothing and
  * follows no pointers.
  *
  * {{{
  *   column 0 at rank 5, the low side cut again in column 1 at rank 2: boxes 0, 1 and 2
  *   KdTree(Array(0, 5, 1, ~2,
  *                1, 2, ~0, ~1))
  * }}}
  *
  * Source: J. L. Bentley, "Multidimensional binary search trees used for associative searching",
  * CACM 18(9), 1975.
  */
final class KdTree(private val nodes: Array[Int]) extends Serializable {
  require(nodes.length % KdTree.NodeSize == 0, "a node has four numbers")

  /** Number of boxes. */
  def boxes: Int = nodes.length / KdTree.NodeSize + 1

  /** Number of the box that contains a point of ranks. */
  def boxOf(point: Array[Int]): Int = {
    var node = if (nodes.length == 0) ~0 else 0
    while (node >= 0) {
      val at = node * KdTree.NodeSize
      // Ranks aren't negative, so the sign selects the side. A branch would be mispredicted half
      // the time.
      node = nodes(at + 2 + ((nodes(at + 1) - point(nodes(at))) >>> 31))
    }
    ~node
  }

  /** For each column, the largest ranks of the low sides, ascending and distinct. */
  def cuts(dimensions: Int): IndexedSeq[Array[Int]] = {
    val byColumn = nodes.grouped(KdTree.NodeSize).toSeq.groupMap(_(0))(_(1))
    (0 until dimensions).map(byColumn.getOrElse(_, Nil).distinct.sorted.toArray)
  }

  /** The same tree over other ranks.
    *
    * @param rank from a column and the largest rank of a low side to the new rank
    */
  def recut(rank: (Int, Int) => Int): KdTree =
    new KdTree(nodes.grouped(KdTree.NodeSize).flatMap { node =>
      node.updated(1, rank(node(0), node(1)))
    }.toArray)
}

object KdTree {
  private[layout] val NodeSize = 4
}
