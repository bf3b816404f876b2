package org.apache.spark.sql.delta.zcube

import io.zcube.layout.CurveName

/** A way to lay a table out.
  *
  * @param columns numbers of columns, the first one first
  * @param weights of the columns, normalised; empty if all are alike
  */
final case class LayoutCandidate(columns: Seq[Int], curve: CurveName, weights: Seq[Double] = Nil)
