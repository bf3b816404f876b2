package io.zcube.sql.simulation

import io.zcube.sql.predicates.{Interval, PredicateBoxes, ValueRange}

/** How likely it is that a simulated file must be read. [[SkippingTest]] asks this of its sampled rows
  * alone, whose range is too narrow: a file with rows all over the table nearly always has one of the
  * last day, and its sampled rows seldom do.
  *
  * Numbers of distinct values stand for the values ([[EncodedSample]]). With n sampled rows over a width
  * of w, a file's rows are likely to reach about w / n further on each side: with the probability
  * exp(-d n / w), further than d. If they may well reach the end of all values, as without an order in
  * this column, they are taken to, and then it is asked how many of them are to be expected beyond the
  * predicate's bound.
  *
  * Example: 3,000 rows all over the table, 150 of them in the sample. One more of 20,000 sampled rows is
  * beyond the bound of a query for the newest rows, so 0.15 of the file's own 3,000 are to be expected
  * there, and the chance is 14 %.
  *
  * @param share of the table's rows in the sample
  */
final class ReadingChance(coded: EncodedSample, share: Double) {
  import ReadingChance._

  private val test = new SkippingTest(coded.sample.dataTypes)

  /** Between 0 and 1; exactly 0 or 1 if the sample has all rows. */
  def of(file: SimulatedFile, predicate: PredicateBoxes): Double =
    predicate.boxes.iterator
      .map(_.foldLeft(1.0) { case (chance, (column, range)) =>
        if (chance == 0.0) 0.0 else chance * of(file, column, range)
      })
      .maxOption.getOrElse(0.0)

  private def of(file: SimulatedFile, column: Int, range: ValueRange): Double =
    if (test.touches(file, column, range)) 1.0
    else if (share >= 1.0 || file.lower(column) == null) 0.0
    else range.values.fold(0.0)(of(file, column, _))

  private def of(file: SimulatedFile, column: Int, interval: Interval): Double = {
    val (low, high) = (place(file.lower(column)), place(file.upper(column)))
    val last = (coded.distinctOf(column) - 1).toDouble
    val rows = file.rows - file.nulls(column)
    def above(end: Interval.End) = {
      val bound = place(end.value)
      Option.when(bound >= high)(
        reached(rows, high - low, bound - high, last - high, last - first(bound, end)))
    }
    def below(end: Interval.End) = {
      val bound = place(end.value)
      Option.when(bound <= low)(reached(rows, high - low, low - bound, low, -first(-bound, end)))
    }
    interval.lower.flatMap(above).orElse(interval.upper.flatMap(below)).getOrElse(0.0)
  }

  /** @param rows   sampled rows
    * @param width  of their range
    * @param gap    from there to the predicate's bound
    * @param spare  from there to the end of all sampled values
    * @param beyond from the first value beyond the bound to that end; negative if there is none
    */
  private def reached(
      rows: Long,
      width: Double,
      gap: Double,
      spare: Double,
      beyond: Double): Double =
    // Of a few values, a file's sampled rows have those that are usual. A rare one counts as absent.
    if (width == 0.0) 0.0
    else {
      val further = width / rows * (1.0 - share)
      val toBound = if (spare <= Surely * further) 1.0 else math.exp(-gap / further)
      val others = rows / share - rows
      toBound * (1.0 - math.exp(-others * math.max(Outside, beyond + 1.0) / (width + 1.0)))
    }
}

object ReadingChance {

  /** As far as nearly all files may reach, in multiples of what is usual. */
  private val Surely = 4.0

  /** What is taken to be beyond a bound if nothing in the sample is: there may be values, or none. */
  private val Outside = 0.5

  /** The first value that is not before a bound, or is after it. */
  private def first(bound: Double, end: Interval.End): Double = {
    val next = math.ceil(bound)
    if (next == bound && !end.inclusive) next + 1.0 else next
  }

  /** The number of a value among the distinct values. */
  private def place(code: Any): Double = code.asInstanceOf[Int] / 2.0
}
