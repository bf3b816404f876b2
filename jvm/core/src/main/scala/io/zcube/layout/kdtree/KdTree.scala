package io.zcube.layout.kdtree

/** A binary tree of axis-parallel cuts, and the numbers of the boxes that they leave: the first box
  * is the one that lies low in every cut.
  *
  * The tree is one flat array of four numbers a node: the column that is cut, the greatest rank that
  * goes to the low side, and the nodes of the low and the high side. A negative node is the box of the
  * number `~node`. A look-up is a loop over that array; it allocates nothing and follows no pointers.
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

  /** Number of the box that a point of ranks lies in. */
  def boxOf(point: Array[Int]): Int = {
    var node = if (nodes.length == 0) ~0 else 0
    while (node >= 0) {
      val at = node * KdTree.NodeSize
      // Ranks aren't negative, so the sign says which side. A branch would be mispredicted half the time.
      node = nodes(at + 2 + ((nodes(at + 1) - point(nodes(at))) >>> 31))
    }
    ~node
  }

  /** For each column, the ranks that are the greatest of a low side, ascending, each once. */
  def cuts(dimensions: Int): IndexedSeq[Array[Int]] = {
    val byColumn = nodes.grouped(KdTree.NodeSize).toSeq.groupMap(_(0))(_(1))
    (0 until dimensions).map(byColumn.getOrElse(_, Nil).distinct.sorted.toArray)
  }

  /** The same tree over other ranks.
    *
    * @param rank from a column and the greatest rank of a low side to what it becomes
    */
  def recut(rank: (Int, Int) => Int): KdTree =
    new KdTree(nodes.grouped(KdTree.NodeSize).flatMap { node =>
      node.updated(1, rank(node(0), node(1)))
    }.toArray)
}

object KdTree {
  private[layout] val NodeSize = 4
}
