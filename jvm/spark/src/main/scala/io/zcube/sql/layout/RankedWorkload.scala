package io.zcube.sql.layout

import io.zcube.layout.Workload
import io.zcube.sql.predicates.{PredicateBoxes, ValueRange}

/** Converts queries' boxes of values to boxes of ranks in a sample. */
private[layout] object RankedWorkload {

  /** @param columns for each column, its sampled values and the indexes of its bounds among them */
  def of(queries: Seq[BoxedQuery], columns: Seq[(SampledColumn, Array[Int])]): Workload =
    Workload(queries.map { query =>
      Workload.Query(query.weight, query.boxes.map(ranked(_, columns)))
    })

  private def ranked(
      box: PredicateBoxes.Box,
      columns: Seq[(SampledColumn, Array[Int])]): Workload.Box = {
    val sides = columns.zipWithIndex.map { case ((values, bounds), c) =>
      box.get(c) match {
        case None => (1, bounds.length + 1, true)
        case Some(ValueRange(None, nulls)) => (1, 0, nulls)
        case Some(ValueRange(Some(interval), nulls)) =>
          val (low, high) = values.bucketsOf(interval, bounds)
          (low + 1, high + 1, nulls)
      }
    }
    Workload.Box(
      sides.map(_._1).toArray,
      sides.map(_._2).toArray,
      sides.map(_._3).toArray)
  }
}
