package io.zcube.sql.keys

/** A box of values: in each dimension from `low` to `high`, inclusive, in Catalyst's internal form.
  *
  * In boxes of keys, null represents NULL, which sorts below all values. In a file's ranges, it
  * represents an unknown bound.
  */
final class ValueBox(val low: Array[Any], val high: Array[Any]) extends Serializable {

  /** The box in these dimensions. */
  def only(dimensions: Seq[Int]): ValueBox =
    new ValueBox(dimensions.map(low(_)).toArray, dimensions.map(high(_)).toArray)

  override def equals(other: Any): Boolean = other match {
    case that: ValueBox => low.sameElements(that.low) && high.sameElements(that.high)
    case _ => false
  }

  override def hashCode: Int = 31 * low.toSeq.hashCode + high.toSeq.hashCode

  override def toString: String =
    low.indices.map(d => s"${low(d)}..${high(d)}").mkString("[", " × ", "]")
}

object ValueBox {

  /** A missing bound. A lower one sorts below all values but above NULL, an upper one above
    * everything.
    */
  case object Unbounded {

    // Equal to itself in other processes, whatever serializer brought it there.
    override def equals(other: Any): Boolean = other.isInstanceOf[Unbounded.type]

    override def hashCode: Int = 1
  }
}
