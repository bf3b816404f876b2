package io.zcube.layout

import java.util.Arrays

/** The statistics of sets of rows: by column and set, the smallest and the largest rank of the
  * values, and whether there are NULLs. A query reads a file if and only if the file's ranges
  * touch one of the query's boxes.
  *
  * @param sets the maximum number of sets
  */
final private[layout] class RowSetRanges(dimensions: Int, sets: Int) {

  private val low = Array.fill(dimensions)(new Array[Int](sets))
  private val high = Array.fill(dimensions)(new Array[Int](sets))
  private val nulls = Array.fill(dimensions)(new Array[Boolean](sets))

  /** Makes the first `count` sets empty. */
  def clear(count: Int): Unit = {
    var d = 0
    while (d < dimensions) {
      Arrays.fill(low(d), 0, count, Int.MaxValue)
      Arrays.fill(high(d), 0, count, -1)
      Arrays.fill(nulls(d), 0, count, false)
      d += 1
    }
  }

  /** Adds each row to a set.
    *
    * @param points for each column, the rank of each row
    * @param rows   row numbers; those at [from, until) are added
    * @param setOf from a row's number to its set
    */
  def addRows(points: Array[Array[Int]], rows: Array[Int], from: Int, until: Int)(
      setOf: Int => Int): Unit = {
    var d = 0
    while (d < dimensions) {
      val own = points(d)
      var i = from
      while (i < until) {
        add(setOf(rows(i)), d, own(rows(i)))
        i += 1
      }
      d += 1
    }
  }

  private def add(set: Int, column: Int, rank: Int): Unit =
    if (rank == Layout.NullRank) nulls(column)(set) = true
    else {
      if (rank < low(column)(set)) low(column)(set) = rank
      if (rank > high(column)(set)) high(column)(set) = rank
    }

  /** Adds all of one set to another. */
  def addAll(into: Int, from: Int): Unit = {
    var d = 0
    while (d < dimensions) {
      low(d)(into) = math.min(low(d)(into), low(d)(from))
      high(d)(into) = math.max(high(d)(into), high(d)(from))
      nulls(d)(into) |= nulls(d)(from)
      d += 1
    }
  }

  /** The smallest rank of a value; [[Int.MaxValue]] if the set has none. */
  def minimum(set: Int, column: Int): Int = low(column)(set)

  /** The largest rank of a value; -1 if the set has none. */
  def maximum(set: Int, column: Int): Int = high(column)(set)

  def touches(set: Int, box: Workload.Box): Boolean = {
    var d = 0
    while (d < dimensions && touches(set, box, d)) d += 1
    d == dimensions
  }

  def touches(set: Int, query: Workload.Query): Boolean = query.boxes.exists(touches(set, _))

  private def touches(set: Int, box: Workload.Box, d: Int): Boolean =
    (box.nulls(d) && nulls(d)(set)) ||
      (box.low(d) <= high(d)(set) && low(d)(set) <= box.high(d))
}
