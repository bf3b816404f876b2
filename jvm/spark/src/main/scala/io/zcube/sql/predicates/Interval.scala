package io.zcube.sql.predicates

/** The values between two ends, in the order of their type; NULL is not included.
  *
  * @param lower None if there is no lower bound
  * @param upper None if there is no upper bound
  */
final case class Interval(lower: Option[Interval.End], upper: Option[Interval.End]) {
  import Interval.End

  /** The intersection; None if it is empty. */
  def and(other: Interval, order: Ordering[Any]): Option[Interval] = {
    val both = Interval(
      Interval.choose(lower, other.lower)((a, b) => isTighter(order.compare(a.value, b.value), a)),
      Interval.choose(upper, other.upper)((a, b) => isTighter(order.compare(b.value, a.value), a))
    )
    Option.when(!both.isEmpty(order))(both)
  }

  /** The smallest interval that contains both. */
  def hull(other: Interval, order: Ordering[Any]): Interval = Interval(
    for (a <- lower; b <- other.lower)
      yield if (isTighter(order.compare(a.value, b.value), a)) b else a,
    for (a <- upper; b <- other.upper)
      yield if (isTighter(order.compare(b.value, a.value), a)) b else a
  )

  private def isEmpty(ordering: Ordering[Any]): Boolean = (lower, upper) match {
    case (Some(low), Some(high)) =>
      val order = ordering.compare(low.value, high.value)
      order > 0 || (order == 0 && !(low.inclusive && high.inclusive))
    case _ => false
  }

  /** Whether the end `a` is stricter than another, whose comparison with it is `beyond`. */
  private def isTighter(beyond: Int, a: End): Boolean = beyond > 0 || (beyond == 0 && !a.inclusive)
}

object Interval {

  /** @param value in Catalyst's internal form */
  final case class End(value: Any, inclusive: Boolean)

  val Everything: Interval = Interval(None, None)

  def of(value: Any): Interval =
    Interval(Some(End(value, inclusive = true)), Some(End(value, inclusive = true)))

  def from(value: Any, inclusive: Boolean): Interval = Interval(Some(End(value, inclusive)), None)

  def to(value: Any, inclusive: Boolean): Interval = Interval(None, Some(End(value, inclusive)))

  private def choose(a: Option[End], b: Option[End])(tighter: (End, End) => Boolean): Option[End] =
    (a, b) match {
      case (Some(x), Some(y)) => Some(if (tighter(x, y)) x else y)
      case _ => a.orElse(b)
    }
}
