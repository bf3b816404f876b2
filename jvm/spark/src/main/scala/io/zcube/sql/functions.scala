package io.zcube.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{call_function, lit}

/** ZCube's functions for Scala's DataFrame API; the session needs ZCube's extension.
  *
  * @note Public: jobs that were compiled against a release run with later ones.
  */
object functions {

  /** Approximate rank of the column's value, 0 to n - 1; NULL has 0. */
  def range_partition_id(column: Column, n: Int): Column =
    call_function("range_partition_id", column, lit(n))

  /** Interleaved bits of the INT columns, as a BINARY whose unsigned order is Z-order. */
  def interleave_bits(columns: Column*): Column = call_function("interleave_bits", columns: _*)

  /** Position on the Hilbert curve of a point with `bits` bits per coordinate. */
  def hilbert_index(bits: Int, columns: Column*): Column =
    call_function("hilbert_index", lit(bits) +: columns: _*)
}
