package io.zcube.layout

/** The boxes of a k-d tree alone: a key is a box's number, and rows inside a box have no order. Where each
  * box is a file that is all a shuffle needs to know, for half the work.
  *
  * @param whole the layout that orders the rows inside these boxes
  */
final class KdTreeBoxes(whole: KdTreeLayout) extends Layout {

  override val dimensions: Int = whole.dimensions

  override def ranks(column: Int): Array[Int] = whole.ranks(column)

  override def keyOf(point: Array[Int]): Long = whole.tree.boxOf(point).toLong
}
