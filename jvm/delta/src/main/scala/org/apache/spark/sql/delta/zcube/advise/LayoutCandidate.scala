package org.apache.spark.sql.delta.zcube.advise

import io.zcube.layout.kinds.LayoutKind

/** A way to lay a table out.
  *
  * @param columns numbers of columns, the first one first
  * @param weights of the columns, normalised; empty if all are alike
  */
final case class LayoutCandidate(columns: Seq[Int], curve: LayoutKind, weights: Seq[Double] = Nil)
