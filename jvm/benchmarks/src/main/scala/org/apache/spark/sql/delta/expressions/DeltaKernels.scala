package org.apache.spark.sql.delta.expressions

/** Opens Delta's kernels, which are private to this package, to the benchmarks. Calls them and does nothing else. */
object DeltaKernels {

  /** @param fast `spark.databricks.delta.optimize.zorder.fastInterleaveBits.enabled`, off by default */
  def interleave(values: Array[Int], fast: Boolean): Array[Byte] =
    InterleaveBits.interleaveBits(values, fast)

  def hilbertIndex(point: Array[Int], bits: Int): Long =
    HilbertStates.getStateList(point.length).translateNPointToDKey(point, bits)

  def hilbertBytes(point: Array[Int], bits: Int): Array[Byte] =
    HilbertStates.getStateList(point.length).translateNPointToDKeyArray(point, bits)
}
