package io.zcube.sql.simulation

import scala.collection.mutable

import io.zcube.sql.predicates.{Interval, PredicateBoxes, ValueRange}

/** How likely it is that files of a simulated layout must be read. [[SkippingTest]] asks this of a file's
  * sampled rows alone, whose range is too narrow: a file with rows all over the table nearly always has
  * one of the last day, and its sampled rows seldom do.
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
  * Widths say nothing of a column with few values, such as a flag that one row in a thousand has, nor of
  * rare NULLs. There the question is in how many files the sample's rare rows are: see [[Occupancy]].
  *
  * @param share of the table's rows in the sample
  */
final class ReadingChance(coded: EncodedSample, share: Double) {
  import ReadingChance._

  private val test = new SkippingTest(coded.sample.dataTypes)

  /** The chance of each file, between 0 and 1; exactly 0 or 1 if the sample has all rows.
    *
    * @param files   all files of the layout
    * @param ordered the columns that the layout orders rows by
    */
  def of(files: Seq[SimulatedFile], ordered: Set[Int], predicate: PredicateBoxes): Seq[Double] = {
    val rare = new Rare(files, ordered)
    files.map { file =>
      predicate.boxes.iterator
        .map(_.foldLeft(1.0) { case (chance, (column, range)) =>
          if (chance == 0.0) 0.0 else chance * of(file, column, range, rare)
        })
        .maxOption.getOrElse(0.0)
    }
  }

  private def of(file: SimulatedFile, column: Int, range: ValueRange, rare: Rare): Double =
    if (test.touches(file, column, range)) 1.0
    else if (share >= 1.0) 0.0
    else {
      val ofNull = if (range.nulls) rare.chance(column, ValueRange.Null) else 0.0
      val ofValues =
        if (file.lower(column) == null) 0.0
        else range.values.fold(0.0)(of(file, column, _, rare))
      1.0 - (1.0 - ofNull) * (1.0 - ofValues)
    }

  private def of(file: SimulatedFile, column: Int, interval: Interval, rare: Rare): Double = {
    val (low, high) = (place(file.lower(column)), place(file.upper(column)))
    val last = (coded.distinctOf(column) - 1).toDouble
    val rows = file.rows - file.nulls(column)
    val fewValues = rows >= RowsOfFewValues * (high - low + 1.0)
    def above(end: Interval.End) = {
      val bound = place(end.value)
      Option.when(bound >= high)(
        if (fewValues) rare.chance(column, ValueRange.of(Interval(Some(end), None)))
        else reached(rows, high - low, bound - high, last - high, last - first(bound, end)))
    }
    def below(end: Interval.End) = {
      val bound = place(end.value)
      Option.when(bound <= low)(
        if (fewValues) rare.chance(column, ValueRange.of(Interval(None, Some(end))))
        else reached(rows, high - low, low - bound, low, -first(-bound, end)))
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
    // Where one value is, says nothing of where others are.
    if (width == 0.0) 0.0
    else {
      val further = width / rows * (1.0 - share)
      val toBound = if (spare <= Surely * further) 1.0 else math.exp(-gap / further)
      val others = rows / share - rows
      toBound * (1.0 - math.exp(-others * math.max(Outside, beyond + 1.0) / (width + 1.0)))
    }

  /** Files that may have rare rows, of which none is in the sample. */
  final private class Rare(files: Seq[SimulatedFile], ordered: Set[Int]) {

    private val known = mutable.HashMap.empty[(Int, ValueRange), Double]

    /** The chance of a file that the range doesn't touch.
      *
      * @param range everything from a bound on, everything up to a bound, or NULL
      */
    def chance(column: Int, range: ValueRange): Double = known.getOrElseUpdate(
      column -> range, {
        val rows = coded.rowsIn(column, range)
        if (rows < (if (ordered(column)) EnoughInOrder else 1)) 0.0
        else
          Occupancy.ofOthers(files.count(test.touches(_, column, range)), files.size, rows, share)
      }
    )
  }
}

object ReadingChance {

  /** As far as nearly all files may reach, in multiples of what is usual. */
  private val Surely = 4.0

  /** What is taken to be beyond a bound if nothing in the sample is: there may be values, or none. */
  private val Outside = 0.5

  /** A file has few values if so many of its sampled rows share one. */
  private val RowsOfFewValues = 4.0

  /** So many rare rows tell whether they are all over a layout that orders by their column. Of fewer it
    * is assumed that they are together, and without an order that they aren't.
    */
  private val EnoughInOrder = 4

  /** The first value that is not before a bound, or is after it. */
  private def first(bound: Double, end: Interval.End): Double = {
    val next = math.ceil(bound)
    if (next == bound && !end.inclusive) next + 1.0 else next
  }

  /** The number of a value among the distinct values. */
  private def place(code: Any): Double = code.asInstanceOf[Int] / 2.0
}
