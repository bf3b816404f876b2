package io.zcube.sql.expressions

import io.zcube.curve.SpaceFillingCurve.MaxIndexBits
import io.zcube.curve.{HilbertCurve, WideHilbertCurve}
import io.zcube.sql.errors.ZCubeErrors

/** What `hilbert_index` computes for each row, both interpreted and in generated code. */
final class HilbertKernel(dimensions: Int, bits: Int) extends Serializable {

  private val curve: HilbertCurve =
    if (dimensions.toLong * bits <= MaxIndexBits) HilbertCurve(dimensions, bits) else null

  private val wideCurve = WideHilbertCurve(dimensions, bits)

  /** The value as a coordinate: its low 32 bits, taken as unsigned. */
  def coordinate(value: Long): Int = {
    if (value < 0 || (value >>> bits) != 0) throw ZCubeErrors.hilbertValueOutOfRange(value, bits)
    value.toInt
  }

  def index(point: Array[Int]): Long = curve.index(point)

  def bytes(point: Array[Int]): Array[Byte] = wideCurve.index(point)
}
