package io.zcube.sql.predicates

/** The values that a condition allows in a column.
  *
  * @param values the interval of allowed values, if any
  * @param nulls  whether NULL is allowed
  */
final case class ValueRange(values: Option[Interval], nulls: Boolean) {

  /** Whether nothing is allowed. */
  def isEmpty: Boolean = values.isEmpty && !nulls

  def and(other: ValueRange, order: Ordering[Any]): ValueRange = ValueRange(
    for (a <- values; b <- other.values; both <- a.and(b, order)) yield both,
    nulls && other.nulls)

  /** The smallest range that allows everything that either allows. */
  def hull(other: ValueRange, order: Ordering[Any]): ValueRange = ValueRange(
    (values, other.values) match {
      case (Some(a), Some(b)) => Some(a.hull(b, order))
      case (a, b) => a.orElse(b)
    },
    nulls || other.nulls)
}

object ValueRange {

  def of(interval: Interval): ValueRange = ValueRange(Some(interval), nulls = false)

  val Null: ValueRange = ValueRange(None, nulls = true)

  val NotNull: ValueRange = of(Interval.Everything)
}
