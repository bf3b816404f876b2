package io.zcube.layout

/** A cut of a box into two.
  *
  * @param column   the column that is cut
  * @param greatest the greatest rank that goes to the low side
  * @param lowFiles how many of the box's files the low side gets
  */
final private[layout] case class KdSplit(column: Int, greatest: Int, lowFiles: Int)
