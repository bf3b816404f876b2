package io.zcube.sql.expressions

import io.zcube.curve.{Grid, HilbertCurve, WideHilbertCurve}
import io.zcube.sql.errors.ZCubeErrors

/** What `hilbert_index` computes for a row, the same object interpreted and in generated code. */
final case class HilbertKernel(dimensions: Int, bits: Int) {
  private val grid = Grid(dimensions, bits)

  /** Whether the index is a `Long`, else it is bytes. */
  val fitsLong: Boolean = grid.totalBits <= Grid.MaxLongIndexBits

  private val curve = if (fitsLong) Some(HilbertCurve(dimensions, bits)) else None
  private val wideCurve = if (fitsLong) None else Some(WideHilbertCurve(dimensions, bits))

  /** The value as the unsigned bit pattern that the curves take.
    *
    * @throws io.zcube.sql.errors.ZCubeRuntimeException `ZCUBE_HILBERT_VALUE_OUT_OF_RANGE`
    */
  def coordinate(value: Long): Int = {
    // Unsigned, so that negative values are too big as well.
    if ((value >>> bits) != 0) throw ZCubeErrors.hilbertValueOutOfRange(value, bits)
    value.toInt
  }

  def index(point: Array[Int]): Long = curve.get.index(point)

  def wideIndex(point: Array[Int]): Array[Byte] = wideCurve.get.index(point)
}
