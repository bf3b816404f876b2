package io.zcube.clustering.advise

import io.zcube.layout.kinds.LayoutKind

/** What a workload would read from a table with some layout.
  *
  * @param files     number of files in the table
  * @param filesRead by all queries together, weighted
  * @param bytesRead the same in bytes
  * @param each files and bytes that each query reads, unweighted
  */
final case class LayoutCost(
    candidate: LayoutCandidate,
    files: Int,
    filesRead: Double,
    bytesRead: Double,
    each: Seq[(Long, Long)])

/** A candidate layout.
  *
  * @param columns numbers of columns, in order
  * @param weights of the columns, normalized; empty if all are equal
  */
final case class LayoutCandidate(columns: Seq[Int], curve: LayoutKind, weights: Seq[Double] = Nil)
