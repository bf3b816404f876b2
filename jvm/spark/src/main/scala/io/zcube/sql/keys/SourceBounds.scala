package io.zcube.sql.keys

import org.apache.spark.sql.catalyst.expressions.Expression

/** What a condition says about a column of the target: for each row of the source, an interval that
  * holds the column's value in all matching rows.
  *
  * @param column a column of the target, or a field of one
  * @param low    the lower bound, an expression over the source's columns in the column's type;
  *   None if there is none
  * @param high   the upper bound; the same as `low` for an equality
  * @param ifNull what a NULL in one of the bounds means
  */
final case class SourceBounds(
    column: Expression,
    low: Option[Expression],
    high: Option[Expression],
    ifNull: SourceBounds.IfNull) {

  def isPoint: Boolean = low == high

  /** Whether it depends on the source's rows, unlike a comparison with a constant. */
  def isOfSource: Boolean = (low ++ high).exists(_.references.nonEmpty)
}

object SourceBounds {

  sealed trait IfNull

  /** The row of the source matches nothing. */
  case object MatchesNothing extends IfNull

  /** It matches rows of the target that have NULL. */
  case object MatchesNull extends IfNull

  /** Nothing is known. */
  case object MatchesAnything extends IfNull

  def point(column: Expression, key: Expression, ifNull: IfNull): SourceBounds =
    SourceBounds(column, Some(key), Some(key), ifNull)
}
