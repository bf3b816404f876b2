package io.zcube.clustering.advise

import io.zcube.layout.kinds.LayoutKind

/** What a workload would read of a table that is laid out in some way.
  *
  * @param files     of the table
  * @param filesRead by all queries together, each as often as its weight says
  * @param bytesRead the same in bytes
  * @param each      files and bytes that each query reads once
  */
final case class LayoutCost(
    candidate: LayoutCandidate,
    files: Int,
    filesRead: Double,
    bytesRead: Double,
    each: Seq[(Long, Long)])

/** A way to lay a table out.
  *
  * @param columns numbers of columns, the first one first
  * @param weights of the columns, normalised; empty if all are alike
  */
final case class LayoutCandidate(columns: Seq[Int], curve: LayoutKind, weights: Seq[Double] = Nil)
