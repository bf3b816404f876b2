package io.zcube.layout

/** Measures what a workload skips. */
private[layout] object SkippedRows {

  /** The number of rows that the queries need not read, times the weights of the queries.
    *
    * @param points for each column, the rank of each row
    * @param files  numbers of the rows of each file
    */
  def of(points: Array[Array[Int]], files: Seq[Array[Int]], workload: Workload): Double = {
    val ranges = new RowSetRanges(points.length, 1)
    files.map { rows =>
      ranges.clear(1)
      ranges.addRows(points, rows, 0, rows.length)(_ => 0)
      rows.length * workload.queries.filterNot(ranges.touches(0, _)).map(_.weight).sum
    }.sum
  }
}
