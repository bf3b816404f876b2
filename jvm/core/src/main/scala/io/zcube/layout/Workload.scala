package io.zcube.layout

/** Queries on a table, as boxes in the ranks of its clustering columns ([[KdTreeLayout]]: the
  * number of a value's bucket plus 1, and 0 for NULL).
  *
  * {{{
  *   column 0 in the buckets 2 to 4 and column 1 NULL; runs twice as often as a query of weight 1
  *   Query(2.0, Seq(Box(Array(3, 1), Array(5, 0), Array(false, true))))
  * }}}
  */
final case class Workload(queries: Seq[Workload.Query]) {

  def isEmpty: Boolean = queries.isEmpty

  /** Each box as a query of its own; those of a query share its weight. */
  def byBox: Workload =
    Workload(queries.flatMap { query =>
      query.boxes.map(box => Workload.Query(query.weight / query.boxes.length, Seq(box)))
    })
}

object Workload {

  val Empty: Workload = Workload(Nil)

  /** @param weight how often it runs, greater than 0
    * @param boxes  its rows are in any of these
    */
  final case class Query(weight: Double, boxes: Seq[Box])

  /** For each column, the values and the NULLs that rows may have.
    *
    * @param low   the smallest rank, at least 1
    * @param high  the largest rank; 0 if no value is allowed
    * @param nulls whether NULL is allowed
    */
  final case class Box(low: Array[Int], high: Array[Int], nulls: Array[Boolean])
}
