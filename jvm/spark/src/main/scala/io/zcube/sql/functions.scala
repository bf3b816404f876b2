package io.zcube.sql

import org.apache.spark.sql.Column
import org.apache.spark.sql.functions.{call_function, lit}

/** The SQL functions for the Scala DataFrame API. They need [[ZCubeSparkSessionExtension]] in the session that runs them.
  * {{{
  * df.orderBy(interleave_bits(range_partition_id($"x", 1000), range_partition_id($"y", 1000)))
  * }}}
  */
object functions {

  /** The bits of INT columns interleaved, the first column the most significant: BINARY that sorts in Z-order. */
  def interleave_bits(cols: Column*): Column = call_function("interleave_bits", cols: _*)

  /** The position on the Hilbert curve of points with coordinates from 0 to `2^bits - 1`: BIGINT up to 63 bits in all, else
    * BINARY that sorts in curve order.
    *
    * @param bits bits of each coordinate, 1 to 32
    */
  def hilbert_index(bits: Int, cols: Column*): Column =
    call_function("hilbert_index", lit(bits) +: cols: _*)

  /** An approximate rank: which of `n` ranges of about equally many rows a value falls into, from 0.
    *
    * The values (0, 1, 3, 15, 36, 99) with `n = 3` give (0, 0, 1, 1, 2, 2).
    */
  def range_partition_id(col: Column, n: Int): Column = call_function("range_partition_id", col, lit(n))
}
