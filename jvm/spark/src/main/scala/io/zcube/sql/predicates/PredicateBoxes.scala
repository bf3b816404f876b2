package io.zcube.sql.predicates

import io.zcube.sql.predicates.PredicateBoxes.Box

/** What a predicate requires of some columns: rows that satisfy it are in at least one of the
  * boxes. A box has ranges for some of the columns, by their numbers; other columns may have any
  * value.
  *
  * {{{
  *   a = 1 AND (b < 5 OR c > 7 AND f(b))   with the columns (a, b, c)
  *   boxes   {a: [1, 1], b: (-∞, 5)} and {a: [1, 1], c: (7, ∞)}
  *   ignored f(b)
  * }}}
  *
  * @param boxes   none if no row can satisfy the predicate
  * @param ignored parts on the columns that imply no ranges, as SQL; they count as true
  */
final case class PredicateBoxes(boxes: Seq[Box], ignored: Seq[String]) {

  /** Whether it says nothing about the columns. */
  def isAnything: Boolean = boxes.exists(_.isEmpty)

  /** The columns of which it requires something. */
  def columns: Set[Int] = boxes.flatMap(_.keys).toSet

  /** The same as far as files can be skipped by it: of a column without minima and maxima, at most by
    * the number of NULLs.
    */
  def skippable(hasMinima: Int => Boolean, hasNullCounts: Int => Boolean): PredicateBoxes = {
    def known(column: Int, range: ValueRange): Option[ValueRange] =
      if (hasMinima(column)) Some(range)
      else if (!hasNullCounts(column)) None
      else if (range.values.isEmpty) Some(range)
      else Option.unless(range.nulls)(ValueRange.NotNull)
    copy(boxes = boxes.map(_.flatMap { case (column, range) =>
      known(column, range).map(column -> _)
    }).distinct)
  }
}

object PredicateBoxes {

  /** Ranges by the number of their column. */
  type Box = Map[Int, ValueRange]
}
