package io.zcube.sql.keys

/** A box of values: in each dimension from `low` to `high`, inclusive, in Catalyst's internal form.
  *
  * In boxes of keys, null represents NULL, which sorts below all values. In a file's ranges, it
  * represents an unknown bound.
  */
final class ValueBox(val low: Array[Any], val high: Array[Any]) extends Serializable {

  override def equals(other: Any): Boolean = other match {
    case that: ValueBox => low.sameElements(that.low) && high.sameElements(that.high)
    case _ => false
  }

  override def hashCode: Int = 31 * low.toSeq.hashCode + high.toSeq.hashCode

  override def toString: String =
    low.indices.map(d => s"${low(d)}..${high(d)}").mkString("[", " × ", "]")
}
