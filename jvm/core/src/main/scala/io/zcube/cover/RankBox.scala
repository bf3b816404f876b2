package io.zcube.cover

/** A box over ranks: in each dimension from `low` to `high`, inclusive. A point is a box too.
  *
  * @param low  a number for each dimension; must not be changed
  * @param high a number for each dimension, not below that of `low`
  */
final class RankBox(val low: Array[Int], val high: Array[Int]) {

  def touches(other: RankBox): Boolean = {
    var d = 0
    while (d < low.length && low(d) <= other.high(d) && other.low(d) <= high(d)) d += 1
    d == low.length
  }

  override def equals(other: Any): Boolean = other match {
    case that: RankBox =>
      java.util.Arrays.equals(low, that.low) && java.util.Arrays.equals(high, that.high)
    case _ => false
  }

  override def hashCode: Int =
    31 * java.util.Arrays.hashCode(low) + java.util.Arrays.hashCode(high)

  override def toString: String =
    low.indices.map(d => s"${low(d)}..${high(d)}").mkString("[", " × ", "]")
}

object RankBox {

  /** The bounding box of at least one box. */
  def around(boxes: Array[RankBox], from: Int, until: Int): RankBox = {
    val low = boxes(from).low.clone()
    val high = boxes(from).high.clone()
    var i = from + 1
    while (i < until) {
      var d = 0
      while (d < low.length) {
        if (boxes(i).low(d) < low(d)) low(d) = boxes(i).low(d)
        if (boxes(i).high(d) > high(d)) high(d) = boxes(i).high(d)
        d += 1
      }
      i += 1
    }
    new RankBox(low, high)
  }
}
