package io.zcube.sql.predicates

/** What a condition allows one column to be.
  *
  * @param values an interval, if any value will do
  * @param nulls  whether NULL will do
  */
final case class ValueRange(values: Option[Interval], nulls: Boolean) {

  /** Whether nothing is allowed. */
  def isEmpty: Boolean = values.isEmpty && !nulls

  def and(other: ValueRange, order: Ordering[Any]): ValueRange = ValueRange(
    for (a <- values; b <- other.values; both <- a.and(b, order)) yield both,
    nulls && other.nulls)

  /** The least range that allows all that either does. */
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
