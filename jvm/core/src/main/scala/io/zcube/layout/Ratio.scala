package io.zcube.layout

import java.math.MathContext

/** Ratios of weights that people write. */
object Ratio {

  /** `a / b`, to nine digits. Without rounding, 0.1 : 0.3 would be another ratio than 1 : 3, and a table
    * laid out with the one would be rewritten for the other.
    *
    * @param a a positive number, or 0
    * @param b a positive number
    */
  def apply(a: Double, b: Double): Double = BigDecimal(a / b).round(Digits).toDouble

  private val Digits = new MathContext(9)
}
